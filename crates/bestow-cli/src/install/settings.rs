//! The settings of Claude Code as text. Hooks are added and removed, and everything else stays as it is, comments and
//! spaces included.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};

/// A hook in the settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hook {
    pub(super) event: String,
    /// The tools that it is for. Events that are not about a tool have none.
    pub(super) matcher: Option<String>,
    pub(super) command: String,
    /// The time after which Claude Code gives it up, in seconds.
    pub(super) timeout: u64,
    /// True if a hook that cannot be started blocks the call.
    pub(super) blocks_on_failure: bool,
}

/// Settings that are understood well enough to be changed.
pub(super) struct Settings {
    root: CstRootNode,
    object: CstObject,
}

impl Settings {
    /// Reads settings. Comments and commas at the end of lists are kept.
    ///
    /// # Errors
    ///
    /// The reason, with its place, why they are not changed.
    pub(super) fn read(text: &str) -> Result<Settings, String> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &FORM).map_err(|why| why.to_string())?;
        let object = root.object_value().ok_or("it is not one JSON object")?;
        let settings = Settings { root, object };
        settings.events()?;
        Ok(settings)
    }

    /// Checks that Claude Code would load this text: it reads plain JSON alone, and passes over a whole file otherwise.
    ///
    /// # Errors
    ///
    /// The first place that is not plain JSON.
    pub(super) fn require_plain(text: &str) -> Result<(), String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Ok(());
        }
        // This parser names comments and commas. The other one is as strict as Claude Code.
        CstRootNode::parse(text, &PLAIN).map(drop).map_err(|why| why.to_string())?;
        serde_json::from_str(text).map(|_: serde::de::IgnoredAny| ()).map_err(|why| why.to_string())
    }

    /// Returns the text with these hooks in place of all other hooks of bestow.
    pub(super) fn with(self, hooks: &[Hook]) -> Result<String, String> {
        self.remove_ours()?;
        for hook in hooks {
            let all = self.object.object_value_or_set(HOOKS);
            all.array_value_or_set(&hook.event).append(hook.group());
        }
        Ok(self.root.to_string())
    }

    /// Returns the text without the hooks of bestow.
    pub(super) fn without(self) -> Result<String, String> {
        self.remove_ours()?;
        Ok(self.root.to_string())
    }

    /// Returns true if these settings turn all hooks off.
    pub(super) fn turn_hooks_off(&self) -> bool {
        let value = self.object.get("disableAllHooks").and_then(|property| property.value());
        value.is_some_and(|value| value.to_string().trim() == "true")
    }

    /// Returns true if the hook for any host is in these settings. It answers in a form that Claude Code does not know.
    pub(super) fn have_plain_hook(&self) -> bool {
        self.object.get(HOOKS).is_some_and(|all| all.to_string().contains(" hook pre-tool-use"))
    }

    /// Returns the hooks of bestow.
    pub(super) fn ours(&self) -> Result<Vec<Hook>, String> {
        let mut ours = Vec::new();
        for (event, groups) in self.events()? {
            for group in groups.elements().iter().filter_map(CstNode::as_object) {
                let matcher = text(&group, "matcher");
                ours.extend(our_commands(&group).into_iter().map(|command| Hook {
                    event: event.clone(),
                    matcher: matcher.clone(),
                    command: text(&command, "command").unwrap_or_default(),
                    timeout: number(&command, "timeout").filter(|_| is_plain(&command)).unwrap_or_default(),
                    blocks_on_failure: text(&command, "onFailure").as_deref() == Some("block"),
                }));
            }
        }
        Ok(ours)
    }

    fn remove_ours(&self) -> Result<(), String> {
        let mut is_changed = false;
        for (event, groups) in self.events()? {
            for group in groups.elements().iter().filter_map(CstNode::as_object) {
                let ours = our_commands(&group);
                is_changed |= !ours.is_empty();
                let is_all = group.array_value(HOOKS).is_some_and(|all| all.elements().len() == ours.len());
                match ours.is_empty() {
                    true => {}
                    false if is_all => group.remove(),
                    false => ours.into_iter().for_each(CstObject::remove),
                }
            }
            if is_changed && groups.elements().is_empty() {
                self.object.object_value(HOOKS).and_then(|all| all.get(&event)).into_iter().for_each(|it| it.remove());
            }
        }
        let all = self.object.get(HOOKS).filter(|_| is_changed);
        all.filter(|all| all.object_value().is_some_and(|all| all.properties().is_empty()))
            .into_iter()
            .for_each(|all| all.remove());
        Ok(())
    }

    /// Returns the events with their groups of hooks.
    fn events(&self) -> Result<Vec<(String, CstArray)>, String> {
        unique(&self.object, "the settings")?;
        let Some(all) = self.object.get(HOOKS) else { return Ok(Vec::new()) };
        let all = all.object_value().ok_or("`hooks` is not an object")?;
        unique(&all, "`hooks`")?;
        let event = |property: jsonc_parser::cst::CstObjectProp| {
            let name = property.decoded_name().ok_or("the name of an event is not a text")?;
            let groups = property.array_value().ok_or_else(|| format!("`hooks.{name}` is not a list"))?;
            for group in groups.elements() {
                let group =
                    group.as_object().ok_or_else(|| format!("`hooks.{name}` has an entry that is no object"))?;
                unique(&group, &format!("an entry of `hooks.{name}`"))?;
                let inner = group.array_value(HOOKS);
                inner.ok_or_else(|| format!("`hooks.{name}` has an entry without a list `hooks`"))?;
            }
            Ok((name, groups))
        };
        all.properties().into_iter().map(event).collect()
    }
}

/// The name of the object of all hooks, and of the list in each group.
const HOOKS: &str = "hooks";

/// JSON, with what people write into it besides.
const FORM: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// JSON as Claude Code reads it.
const PLAIN: ParseOptions = ParseOptions { allow_comments: false, allow_trailing_commas: false, ..FORM };

/// Refuses an object in which a name occurs twice: it is not known which of them counts.
fn unique(object: &CstObject, place: &str) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    let twice = object.properties().into_iter().filter_map(|property| property.decoded_name());
    match twice.into_iter().find(|name| !names.insert(name.clone())) {
        Some(name) => Err(format!("{place} has `{name}` twice")),
        None => Ok(()),
    }
}

/// Returns true for a hook with the fields of ours alone. Another one may not do what ours does.
fn is_plain(hook: &CstObject) -> bool {
    let known = ["type", "command", "timeout", "onFailure"];
    let names: Vec<_> = hook.properties().iter().filter_map(jsonc_parser::cst::CstObjectProp::decoded_name).collect();
    let is_known = names.iter().all(|name| known.contains(&name.as_str()));
    is_known && unique(hook, "a hook").is_ok() && text(hook, "type").as_deref() == Some("command")
}

/// Returns the hooks of bestow in a group.
fn our_commands(group: &CstObject) -> Vec<CstObject> {
    let all = group.array_value(HOOKS).map(|all| all.elements()).unwrap_or_default();
    let is_ours = |hook: &CstObject| text(hook, "command").is_some_and(|command| is_ours(&command));
    all.iter().filter_map(CstNode::as_object).filter(is_ours).collect()
}

/// Returns true for a command line that starts `bestow hook claude`, wherever the program is.
fn is_ours(command: &str) -> bool {
    let Some((program, rest)) = command.split_once(" hook claude") else { return false };
    // The program is one word of the shell. Anything else is a command line of somebody else.
    let inner = |quote: char| program.strip_prefix(quote)?.strip_suffix(quote).filter(|word| !word.contains(quote));
    let plain =
        Some(program).filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c)));
    let Some(program) = plain.or_else(|| inner('\'')).or_else(|| inner('"')) else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_this = || std::env::current_exe().is_ok_and(|this| this.file_name() == Some(name.as_ref()));
    (name == crate::args::PROGRAM || is_this()) && (rest.is_empty() || rest.starts_with(' '))
}

fn text(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn number(object: &CstObject, name: &str) -> Option<u64> {
    object.get(name)?.value()?.as_number_lit()?.to_string().parse().ok()
}

impl Hook {
    /// Returns the group with this hook alone.
    fn group(&self) -> CstInputValue {
        let field = |name: &str, value: CstInputValue| (name.to_owned(), value);
        let mut hook = vec![
            field("type", "command".into()),
            field("command", self.command.clone().into()),
            field("timeout", self.timeout.into()),
        ];
        hook.extend(self.blocks_on_failure.then(|| field("onFailure", "block".into())));
        let matcher = self.matcher.clone().map(|matcher| field("matcher", matcher.into()));
        let hooks = field(HOOKS, CstInputValue::Array(vec![CstInputValue::Object(hook)]));
        CstInputValue::Object(matcher.into_iter().chain([hooks]).collect())
    }
}
