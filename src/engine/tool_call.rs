//! Resolution of a tool call to its uses: those that the tool declares, or every text of the input of an undeclared
//! tool.

use std::sync::Arc;

use bestow_command::{
    Classifier,
    internal::{
        Call, DECLARED, DeclaredCall, IN_SESSION, Judged, NO_ROLLBACK, NamedUses, TYPED, ToolUse, UNLISTED, Undeclared,
        bare_hosts, declaration, destroying_word, hosts_in, is_certainly_a_path, is_known_command, path_in_file_url,
        read_call, read_call_as, with_nested_json,
    },
};
use serde_json::{Map, Value};

use crate::{
    kernel::{InputText, ResolvedAction, Target, Use},
    model::{
        Access, Action, Destructive, Details, Operation, Permission, PinnedPermission, Profile, SanitizedPath, Secrets,
        Shell, Tier, Tool, ToolName, Tools, UseOrigin,
    },
};

use super::{
    Error,
    below::Reached,
    input,
    plain_action::{about, blank, host, invalid, runs_in, said_content},
    resolve_action::{absolute, texts_in},
    shared::Shared,
};

/// The reason why an input of an undeclared tool is rejected: it holds more text than the engine reads.
const BEYOND: &str = "the input is too large for an undeclared tool: declare the tool";

/// The reason why a call is rejected whose unnamed fields hold more text than the engine reads.
const BEYOND_UNNAMED: &str = "the fields that the declaration of the tool does not name hold too much text: declare \
                              them as `content` or `ignored`";

/// Returns the hint for an input that does not state what its tool is to do: the fields that may state it.
fn fields_of(tool: &Tool) -> String {
    let fields = tool.fields().filter(|(kind, _)| *kind != "content").flat_map(|(_, fields)| fields);
    let fields: Vec<_> = fields.map(|field| format!("`{field}`")).collect();
    if fields.is_empty() { String::new() } else { format!(": `{}` takes {}", tool.name(), fields.join(", ")) }
}

impl Shared {
    /// Sets the tools of the host program.
    pub(super) fn declare_tools(&self, tools: Tools) -> Result<(), Error> {
        self.locked(|shared, writer, _| {
            shared.host_tools.store(Arc::new(tools));
            shared.publish_classifier(&writer.queue.settings_in_force());
        })
    }

    /// Resolves the call of a tool with `input`.
    pub(super) fn consider_call(
        &self,
        profile: &Profile,
        action: &Action,
        input: &Value,
    ) -> Result<ResolvedAction, Error> {
        let classifier = self.classifier.load();
        let name = action.tool.as_ref().map_or("", ToolName::as_str);
        let base = |operation: Operation| {
            let tool = action.tool.clone().unwrap_or_else(|| operation.own_tool());
            let input = input::canonical(input).to_string();
            ResolvedAction { cwd: runs_in(profile, operation), ..blank(operation, tool, action, input) }
        };
        match read_call(classifier.tools(), action.coding_agent, name, input) {
            Call::Declared(call) => {
                let operation = call.tool.operation();
                let about = if let ToolUse::Path { text, .. } = &call.own { text.as_ref() } else { "" };
                let writes = matches!(operation, Operation::Write | Operation::Network);
                let is_content = |name: Option<&str>, value: &Value| {
                    call.tool.is_content(name) || writes && value.as_str() != Some(about)
                };
                let base = ResolvedAction { details: content(action, input, is_content), ..base(operation) };
                self.declared(profile, base, &call, input)
            }
            Call::Session(call) => {
                let in_session = session_tool(base(Operation::Tool), input);
                let understood = self.with_unnamed(profile, in_session, &call, &mut Reached::default())?;
                let tools = self.look(|state, _| state.declared_by_people(&profile.owner, name))?;
                self.with_declarations(profile, understood, &tools, input)
            }
            Call::Invalid(operation, why) => {
                let takes = declaration(classifier.tools(), name).map(fields_of).unwrap_or_default();
                Ok(invalid(base(operation), "", &format!("{why}{takes}")))
            }
            Call::Undeclared => {
                let tools = self.look(|state, _| state.declared_by_people(&profile.owner, name))?;
                let is_content = |name: Option<&str>, _: &Value| tools.iter().any(|tool| tool.is_content(name));
                let base = ResolvedAction { details: content(action, input, is_content), ..base(Operation::Command) };
                let plain = self.undeclared(profile, base, input, &classifier)?;
                self.with_declarations(profile, plain, &tools, input)
            }
        }
    }

    /// Adds the uses that the declarations of people state.
    fn with_declarations(
        &self,
        profile: &Profile,
        understood: ResolvedAction,
        tools: &[Arc<Tool>],
        input: &Value,
    ) -> Result<ResolvedAction, Error> {
        tools.iter().try_fold(understood, |understood, tool| self.declared_besides(profile, understood, tool, input))
    }

    /// Resolves a command line of a call. It runs in the directory that the call names.
    fn line_of(
        &self,
        profile: &Profile,
        base: ResolvedAction,
        line: &str,
        call: &DeclaredCall<'_>,
    ) -> Result<ResolvedAction, Error> {
        let base = if base.shell == Shell::Unknown { ResolvedAction { shell: call.tool.shell, ..base } } else { base };
        if call.is_typed {
            let base = ResolvedAction { cwd: None, ..base };
            let mut understood = self.command(&profile.id, base, line, &call.besides)?;
            understood.distrust(TYPED);
            return Ok(understood);
        }
        let Some(directory) = call.directory else { return self.command(&profile.id, base, line, &call.besides) };
        let there = match self.directory_of(profile, directory) {
            Ok(there) => there,
            Err(why) => return Ok(invalid(base, directory, &format!("the directory of the command: {why}"))),
        };
        let base = ResolvedAction { cwd: Some(there.clone()), ..base };
        let mut understood = self.command(&profile.id, base, line, &call.besides)?;
        let (target, origin) = (Target::Path(there.clone()), UseOrigin::Word);
        understood.uses.add(Use { operation: Operation::Read, target, takes: None, origin });
        let directory = (there != profile.working_dir).then_some(there);
        Ok(ResolvedAction { directory, ..understood })
    }

    /// Returns the real location of the directory that a call names for its command.
    fn directory_of(&self, profile: &Profile, named: &str) -> Result<SanitizedPath, String> {
        if named.starts_with('~') {
            return Err("`~` is not expanded here: write the full path".to_owned());
        }
        let absolute = absolute(Some(profile.working_dir.as_str()), named).unwrap_or_default();
        let real = self.paths.real(&absolute).map_err(|why| why.to_string())?;
        self.another_start(&real.path)
    }

    fn declared(
        &self,
        profile: &Profile,
        base: ResolvedAction,
        call: &DeclaredCall<'_>,
        input: &Value,
    ) -> Result<ResolvedAction, Error> {
        let own = match &call.own {
            ToolUse::Path { text, tree, .. } => {
                let at = self.named_in_field(profile, base, text);
                if *tree { as_tree(at) } else { at }
            }
            ToolUse::Command(line) => self.line_of(profile, base, line, call)?,
            ToolUse::Host(name) => host(base, name),
            ToolUse::Network => host(base, Target::Network.resource()),
            ToolUse::Tool => declared_tool(base, input),
        };
        let (mut understood, mut reached) = (own, Reached::default());
        if let (ToolUse::Path { tree: true, .. }, Some(root)) = (&call.own, understood.uses.own.path()) {
            self.reach_of_call(&mut reached, understood.uses.own.access(), root, call);
        }
        for used in &call.further {
            understood = self.using_too(profile, understood, used, UseOrigin::Named, (&mut reached, call));
        }
        if std::iter::once(&call.own).chain(&call.further).any(|used| used.operation() == Operation::Network) {
            // A tool that uses the network may fetch every address in its input.
            understood = with_hosts_told(understood, input, true);
            for path in file_urls_in(input) {
                understood = self.may_mean(profile, understood, &path, &[Operation::Read]);
            }
        }
        understood = self.with_unnamed(profile, understood, call, &mut reached)?;
        understood = self.with_what_is_moved(understood, call, &mut reached);
        understood = self.with_what_is_reached(&profile.id, understood, &reached)?;
        self.as_declared(understood, &call.tool)
    }

    /// Adds the uses of the fields that the declaration does not name. A text there that is, or may be, a path, a host
    /// or a command is used for what protects, denies or asks. It lets nothing happen.
    fn with_unnamed(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        call: &DeclaredCall<'_>,
        reached: &mut Reached,
    ) -> Result<ResolvedAction, Error> {
        let read = Undeclared::of_fields(&call.unnamed);
        if read.is_empty() {
            return Ok(understood);
        }
        let operation = call.tool.operation();
        let may_do: &[Operation] =
            if operation == Operation::Read { &[Operation::Read] } else { &[Operation::Write, Operation::Read] };
        for used in read.uses() {
            let ToolUse::Path { text, .. } = used else { continue };
            understood = if operation == Operation::Read && is_certainly_a_path(&text) {
                let used = ToolUse::Path { operation, text, tree: call.tool.tree };
                self.using_too(profile, understood, &used, UseOrigin::Input, (reached, call))
            } else {
                self.may_mean(profile, understood, &text, may_do)
            };
        }
        for name in read.names() {
            if self.stands_here(profile, name) {
                understood = self.may_mean(profile, understood, name, may_do);
            }
        }
        for path in self.paths_in_named_directories(profile, call, &read) {
            let used = ToolUse::Path { operation, text: path.into(), tree: call.tool.tree };
            understood = self.using_too(profile, understood, &used, UseOrigin::Input, (reached, call));
        }
        if operation == Operation::Read && read.texts.iter().any(|text| is_option(text)) {
            let why = "a field that its declaration does not name has an option, which may change what it does".into();
            let target = Target::Unresolved { text: call.tool.name().as_str().into(), why };
            understood.uses.add(Use { operation, target, takes: None, origin: UseOrigin::Input });
        }
        understood = with_hosts_told(understood, &Value::Object(call.unnamed.clone()), false);
        // The fields of a tool that is neither file, command nor network are texts for people.
        if operation == Operation::Tool {
            Ok(understood)
        } else {
            self.with_unnamed_words(profile, understood, &read, may_do)
        }
    }

    /// Returns the relative paths of a call in each of the directories that its unnamed fields name. A tool may start
    /// there.
    fn paths_in_named_directories(
        &self,
        profile: &Profile,
        call: &DeclaredCall<'_>,
        read: &Undeclared<'_>,
    ) -> Vec<String> {
        let (directories, _) = read.places();
        let uses = || std::iter::once(&call.own).chain(&call.further);
        let relative = uses().filter_map(|used| match used {
            ToolUse::Path { text, .. } => Some(&**text).filter(|text| !text.starts_with(['/', '~'])),
            ToolUse::Command(_) | ToolUse::Host(_) | ToolUse::Network | ToolUse::Tool => None,
        });
        let relative: Vec<&str> = relative.collect();
        let mut paths = Vec::new();
        for directory in directories.iter().filter(|text| text.starts_with('/') || self.holds(profile, text)) {
            paths.extend(relative.iter().map(|path| format!("{directory}/{path}")).take(MOST_TOGETHER));
        }
        paths
    }

    /// Adds the words and the command lines in unnamed fields.
    fn with_unnamed_words(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        read: &Undeclared<'_>,
        may_do: &[Operation],
    ) -> Result<ResolvedAction, Error> {
        if read.is_beyond && matches!(understood.operation(), Operation::Read | Operation::Command) {
            return Ok(invalid(understood, "", BEYOND_UNNAMED));
        }
        for word in read.words() {
            understood = self.may_mean(profile, understood, &word, may_do);
        }
        understood = self.with_what_lies_in(profile, understood, read, may_do);
        let surroundings = self.surroundings(&profile.id, Some(profile.working_dir.as_str()))?;
        let mut followed = read.follow(&self.classifier.load().within(&Arc::new(surroundings)));
        understood = self.with_what_lines_use(profile, understood, &followed.named)?;
        for text in read.texts.iter().filter(|text| is_known_command(text)) {
            let Some(parts) = followed.spoken.remove(text) else { continue };
            let target = Target::Command { text: (*text).into(), parts, doing: None };
            let (operation, origin) = (Operation::Command, UseOrigin::Word);
            understood.uses.add(Use { operation, target, takes: None, origin });
        }
        let worst = followed.worst.filter(|worst| worst.classification.tier == Tier::Destructive);
        if let Some(worst) = worst.filter(|_| understood.tier != Some(Tier::Destructive)) {
            let input = serde_json::from_str(&understood.input).unwrap_or_default();
            understood.tier = Some(Tier::Destructive);
            (understood.tier_reason, understood.destructive) = destruction(&worst, &input);
        }
        Ok(understood)
    }

    /// Adds the uses that a person's declaration states. All uses that were found in the undeclared call stay: such a
    /// declaration can add a use, and remove none.
    fn declared_besides(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        tool: &Tool,
        input: &Value,
    ) -> Result<ResolvedAction, Error> {
        let call = match read_call_as(tool, input) {
            Ok(call) => call,
            Err(why) => return Ok(invalid(understood, "", why)),
        };
        let mut reached = Reached::default();
        for used in std::iter::once(&call.own).chain(&call.further) {
            understood = match used {
                ToolUse::Command(line) => self.running_too(profile, understood, line, &call)?,
                ToolUse::Path { .. } | ToolUse::Host(_) | ToolUse::Network | ToolUse::Tool => {
                    self.using_too(profile, understood, used, UseOrigin::Input, (&mut reached, &call))
                }
            };
        }
        understood = self.with_what_is_moved(understood, &call, &mut reached);
        understood = self.with_what_is_reached(&profile.id, understood, &reached)?;
        self.as_declared(understood, tool)
    }

    /// Adds a command line that the call runs, and all its uses.
    fn running_too(
        &self,
        profile: &Profile,
        understood: ResolvedAction,
        line: &str,
        call: &DeclaredCall<'_>,
    ) -> Result<ResolvedAction, Error> {
        let operation = Operation::Command;
        let base = blank(operation, understood.tool.clone(), &Action::new(operation, ""), String::new());
        let base = ResolvedAction { cwd: runs_in(profile, operation), ..base };
        let run = self.line_of(profile, base, line, call)?;
        let mut understood = with_worse_tier(understood, &run);
        for used in run.uses.into_all() {
            // A use that the line names still needs its permission, because the line is part of the input.
            let is_doubtful = used.origin.is_word() || used.origin == UseOrigin::Inside;
            let origin = if is_doubtful { used.origin } else { UseOrigin::Input };
            understood.uses.add(Use { origin, ..used });
        }
        Ok(understood)
    }

    /// Adds one more use that the declaration states, and notes the directory whose content it uses. Command lines are
    /// handled elsewhere.
    fn using_too(
        &self,
        profile: &Profile,
        understood: ResolvedAction,
        used: &ToolUse<'_>,
        origin: UseOrigin,
        (reached, call): (&mut Reached, &DeclaredCall<'_>),
    ) -> ResolvedAction {
        let operation = used.operation();
        let base = blank(operation, operation.own_tool(), &Action::new(operation, ""), String::new());
        let other = match used {
            ToolUse::Path { text, tree, .. } => {
                let at = self.named_in_field(profile, base, text);
                if *tree { as_tree(at) } else { at }
            }
            ToolUse::Host(name) => host(base, name),
            ToolUse::Network => host(base, Target::Network.resource()),
            ToolUse::Command(_) | ToolUse::Tool => return understood,
        };
        if let Target::Invalid { text, why } = &other.uses.own.target {
            return ResolvedAction { shown: other.shown.clone(), ..invalid(understood, text, why) };
        }
        if let (ToolUse::Path { tree: true, .. }, Some(root)) = (used, other.uses.own.path()) {
            self.reach_of_call(reached, other.uses.own.access(), root, call);
        }
        let mut understood = with_worse_tier(understood, &other);
        understood.uses.add(Use { origin, ..other.uses.own });
        understood
    }

    /// Resolves the path in a field. A tool may take a `file:` address for a path.
    fn named_in_field(&self, profile: &Profile, base: ResolvedAction, text: &str) -> ResolvedAction {
        self.path(profile, base, path_in_file_url(text).as_deref().unwrap_or(text))
    }

    /// Adds the uses of a tool with several path fields. The tool may move each path to the place of another: then each
    /// path is also read, and a directory moves with its content.
    fn with_what_is_moved(
        &self,
        mut understood: ResolvedAction,
        call: &DeclaredCall<'_>,
        reached: &mut Reached,
    ) -> ResolvedAction {
        let is_told_several = call.tool.fields().any(|(name, fields)| name == "path" && fields.len() > 1);
        if !is_told_several || call.tool.operation() != Operation::Write {
            return understood;
        }
        let written = understood.uses.iter().filter(|used| used.operation == Operation::Write);
        let paths: Vec<_> = written.filter_map(|used| used.path().cloned()).collect();
        for path in paths {
            let target = Target::Path(path.clone());
            understood.uses.add(Use { operation: Operation::Read, target, takes: None, origin: UseOrigin::Named });
            if self.holds_something(&path) {
                [Access::Read, Access::Write].into_iter().for_each(|access| reached.all_below(access, path.clone()));
            }
        }
        understood
    }

    /// Adds the permissions that the declaration requires.
    fn as_declared(&self, mut understood: ResolvedAction, tool: &Tool) -> Result<ResolvedAction, Error> {
        for permission in tool.needs() {
            match self.pin(permission) {
                Ok(pinned) => understood.uses.add(Use::demanded(pinned)),
                Err(Error::Path(why)) => return Ok(invalid(understood, &permission.to_string(), &why.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(understood)
    }

    /// Resolves the call of an undeclared tool. It may do anything with every text of its input.
    fn undeclared(
        &self,
        profile: &Profile,
        base: ResolvedAction,
        input: &Value,
        classifier: &Classifier,
    ) -> Result<ResolvedAction, Error> {
        let name: Arc<str> = base.tool.as_str().into();
        let (input_shown, cut) = input::shown(input);
        let input = &*with_nested_json(input);
        let read = Undeclared::of(input);
        let surroundings = self.surroundings(&profile.id, Some(profile.working_dir.as_str()))?;
        let mut followed = read.follow(&classifier.within(&Arc::new(surroundings)));
        let shown = format!("{name} {input_shown}").into();
        let worst = followed.worst.take().filter(|worst| worst.classification.tier == Tier::Destructive);
        let tier = if worst.is_some() { Tier::Destructive } else { Tier::Dangerous };
        let (tier_reason, destructive) =
            worst.map_or_else(|| (UNLISTED.into(), None), |worst| destruction(&worst, input));
        let destructive = destructive.or_else(|| {
            destroying_word(&name).map(|word| Destructive {
                impact_scope: format!("what a tool whose name says `{word}` is given").into(),
                rollback_advice: NO_ROLLBACK.into(),
            })
        });
        let base = ResolvedAction { shown, cut, tier: Some(tier), tier_reason, destructive, ..base };
        if read.is_beyond {
            return Ok(invalid(base, "", BEYOND));
        }
        let mut texts = vec![&*name];
        texts_in(input, &mut texts);
        let known = |line: &str| followed.spoken.get(line).cloned();
        let spoken = |line: &str| known(line).unwrap_or_else(|| classifier.judge(line).spoken());
        let mentions = InputText::of(texts, read.lines(), spoken);
        let mut understood = about(base, Target::Tool { name, mentions, in_session: false }, None);
        for used in read.uses() {
            understood = match used {
                ToolUse::Host(name) => {
                    let operation = Operation::Network;
                    let base = blank(operation, operation.own_tool(), &Action::network(name), String::new());
                    let reached = host(base, name);
                    understood.uses.add(Use { origin: UseOrigin::Input, ..reached.uses.own });
                    understood
                }
                ToolUse::Path { text, .. } => self.told_of(profile, understood, &text),
                ToolUse::Command(_) | ToolUse::Network | ToolUse::Tool => understood,
            };
        }
        understood = with_hosts_told(understood, input, false);
        understood = self.with_what_lines_use(profile, understood, &followed.named)?;
        for name in read.names() {
            if !understood.is_invalid() && self.stands_here(profile, name) {
                understood = self.told_of(profile, understood, name);
            }
        }
        for word in read.words() {
            if understood.is_invalid() {
                break;
            }
            understood = self.may_mean(profile, understood, &word, BOTH);
        }
        Ok(self.with_what_lies_in(profile, understood, &read, BOTH))
    }

    /// Adds the uses of two texts that may name a path together: a directory, and a name in it.
    fn with_what_lies_in(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        read: &Undeclared<'_>,
        may_do: &[Operation],
    ) -> ResolvedAction {
        let (directories, names) = read.places();
        let leads = |text: &&str| text.starts_with(['/', '.', '~']) || text.contains('/') || self.holds(profile, text);
        let directories: Vec<&str> = directories.iter().map(|text| &**text).filter(leads).collect();
        if directories.len() * names.len() > MOST_TOGETHER {
            return invalid(understood, "", BEYOND);
        }
        for directory in directories {
            for name in names.iter().filter(|name| **name != directory) {
                if understood.is_invalid() {
                    return understood;
                }
                understood = self.may_mean(profile, understood, &format!("{directory}/{name}"), may_do);
            }
        }
        understood
    }

    /// Returns true if the working directory contains a directory of this name.
    fn holds(&self, profile: &Profile, name: &str) -> bool {
        let here = self.paths.real(&format!("{}/{name}", profile.working_dir));
        here.is_ok_and(|real| real.identity.is_some() && self.holds_something(&real.path))
    }

    /// Adds the uses of the texts, read as command lines. Rules and policies apply to them, but their permissions need
    /// not be held, since a text may be no command line.
    fn with_what_lines_use(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        lines: &[NamedUses],
    ) -> Result<ResolvedAction, Error> {
        let (start, mut reached) = (profile.working_dir.as_str(), Reached::default());
        for line in lines {
            if line.uses_too_much() {
                return Ok(invalid(understood, "", BEYOND));
            }
            for named in line.certain() {
                // An action with too many uses is invalid already.
                if understood.is_invalid() {
                    return Ok(understood);
                }
                self.may_use(&mut understood, &mut reached, start, named);
            }
        }
        self.with_what_is_reached(&profile.id, understood, &reached)
    }

    /// Returns true if the working directory contains an entry of this name.
    fn stands_here(&self, profile: &Profile, name: &str) -> bool {
        let here = self.paths.real(&format!("{}/{name}", profile.working_dir));
        here.is_ok_and(|real| real.identity.is_some())
    }

    /// Adds a text that is written as a path, or names an existing file. It may be read and written, so the permission
    /// must be held.
    fn told_of(&self, profile: &Profile, mut understood: ResolvedAction, text: &str) -> ResolvedAction {
        if !is_certainly_a_path(text) && text.contains('/') && !self.stands_here(profile, text) {
            return self.may_mean(profile, understood, text, BOTH);
        }
        let base = |operation: Operation| blank(operation, operation.own_tool(), &Action::read(""), String::new());
        let read = self.path(profile, base(Operation::Read), text);
        if let Target::Invalid { text, why } = &read.uses.own.target {
            return invalid(understood, text, why);
        }
        let Target::Path(path) = read.uses.own.target else { return understood };
        let permission = Permission::Path(Access::Write, path.clone());
        let origin = UseOrigin::Input;
        let takes = read.uses.own.takes.map(|pinned| PinnedPermission { permission, ..pinned });
        understood.uses.add(Use { operation: Operation::Write, target: Target::Path(path.clone()), takes, origin });
        understood.uses.add(Use { operation: Operation::Read, target: Target::Path(path), takes: None, origin });
        understood
    }

    /// Adds a word that may be a path. Rules and policies apply to the path, but its permission need not be held.
    fn may_mean(
        &self,
        profile: &Profile,
        mut understood: ResolvedAction,
        word: &str,
        may_do: &[Operation],
    ) -> ResolvedAction {
        let read = blank(Operation::Read, Operation::Read.own_tool(), &Action::read(""), String::new());
        let from_home = word.starts_with("~/").then(|| absolute(None, word)).flatten();
        let word = from_home.as_deref().unwrap_or(word);
        let Target::Path(path) = self.path(profile, read, word).uses.own.target else { return understood };
        for &operation in may_do {
            let (target, origin) = (Target::Path(path.clone()), UseOrigin::Word);
            understood.uses.add(Use { operation, target, takes: None, origin });
        }
        understood
    }
}

/// Returns true for a text that a command line would take for an option.
fn is_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()))
        && !text.contains(char::is_whitespace)
}

/// The operations that an unknown tool may do on a path.
const BOTH: &[Operation] = &[Operation::Write, Operation::Read];

/// The maximum number of pairs of texts that are checked as one path.
const MOST_TOGETHER: usize = 4096;

/// Adds the hosts of the addresses in the texts, so that rules about them apply. A tool that uses the network may take
/// a bare name as an address.
fn with_hosts_told(mut understood: ResolvedAction, input: &Value, bare: bool) -> ResolvedAction {
    let mut texts = Vec::new();
    texts_in(input, &mut texts);
    for text in texts {
        let named = if bare { bare_hosts(text) } else { Vec::new() };
        for host in hosts_in(text).into_iter().chain(named) {
            let target = Target::Host((&*host).into());
            let is_known =
                understood.uses.iter().any(|used| matches!(&used.target, Target::Host(known) if **known == *host));
            if !is_known && !understood.is_invalid() {
                let (operation, origin) = (Operation::Network, UseOrigin::Word);
                understood.uses.add(Use { operation, target, takes: None, origin });
            }
        }
    }
    understood
}

/// Returns the paths of the `file:` URLs in all texts.
fn file_urls_in(input: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    texts_in(input, &mut texts);
    let ends = |c: char| c.is_whitespace() || "'\"`<>|;(),".contains(c);
    texts.iter().flat_map(|text| text.split(ends)).filter_map(path_in_file_url).collect()
}

/// Extends the use of a path to everything below it.
fn as_tree(mut at: ResolvedAction) -> ResolvedAction {
    if let Target::Path(path) = &at.uses.own.target {
        at.uses.own.target = Target::Tree(path.clone());
    }
    at
}

/// Resolves a declared tool that is neither file, command nor network. Its effect is not classified.
fn declared_tool(base: ResolvedAction, input: &Value) -> ResolvedAction {
    let name: Arc<str> = base.tool.as_str().into();
    let (input, cut) = input::shown(input);
    let shown = format!("{name} {input}").into();
    let mentions = InputText::of([], [], |_| None);
    let tier_reason = DECLARED.into();
    let base = about(base, Target::Tool { name, mentions, in_session: false }, None);
    ResolvedAction { shown, cut, tier: Some(Tier::Dangerous), tier_reason, ..base }
}

/// Resolves a tool of a coding agent without an effect outside of its session.
fn session_tool(base: ResolvedAction, input: &Value) -> ResolvedAction {
    let mut understood = declared_tool(base, input);
    if let Target::Tool { in_session, .. } = &mut understood.uses.own.target {
        *in_session = true;
    }
    ResolvedAction { tier: Some(Tier::Safe), tier_reason: IN_SESSION.into(), ..understood }
}

/// Returns the reason and the effects of a destructive command in a tool's input, without secrets.
fn destruction(worst: &Judged, input: &Value) -> (Arc<str>, Option<Destructive>) {
    let secrets = Secrets::of_input(input);
    let destructive = Destructive {
        impact_scope: secrets.redacted_in(&worst.classification.impact()),
        rollback_advice: worst.rollback_advice().into(),
    };
    (secrets.redacted_in(&worst.classification.reason), Some(destructive))
}

/// Combines two tiers to the stricter one. An unknown tier stays unknown, unless the other is destructive.
fn with_worse_tier(understood: ResolvedAction, other: &ResolvedAction) -> ResolvedAction {
    let tier_reason = Arc::clone(&other.tier_reason);
    match (understood.tier, other.tier) {
        (Some(Tier::Destructive), _) => understood,
        (_, Some(Tier::Destructive)) => {
            let destructive = other.destructive.clone();
            ResolvedAction { tier: other.tier, tier_reason, destructive, ..understood }
        }
        (Some(own), Some(tier)) if tier > own => ResolvedAction { tier: Some(tier), tier_reason, ..understood },
        (Some(_), None) => ResolvedAction { tier: None, tier_reason, ..understood },
        (Some(_) | None, _) => understood,
    }
}

/// Returns the content of a call: the declared content, or otherwise the fields of its input, or a non-object input,
/// for which `is_content` returns true.
fn content(action: &Action, input: &Value, is_content: impl Fn(Option<&str>, &Value) -> bool) -> Option<Details> {
    let found = || match input {
        Value::Object(fields) => {
            let found = fields.iter().filter(|(name, value)| is_content(Some(name), value));
            let found: Map<_, _> = found.map(|(name, value)| (name.clone(), value.clone())).collect();
            (!found.is_empty()).then_some(Value::Object(found))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            is_content(None, input).then(|| input.clone())
        }
    };
    said_content(action).or_else(|| found().map(|found| Details::of(&input::canonical(&found))))
}
