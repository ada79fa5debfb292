//! The expansion of words to arguments. Quotes are already removed. This step resolves braces, tildes, variables and
//! substitutions.

use crate::{
    critical_paths,
    few::Few,
    interpreter::{
        Interpreter, Value, brace,
        command_lines::{Lines, Slot},
        draft::Draft,
        output, parameter_expansion,
    },
    place::{Place, Places},
    span::Span,
    syntax::{
        bare_text,
        tree::{Change, Command, Flow, Form, Parameter, Piece, RawWord, Script, Simple},
    },
    variables,
    word::{Fragment, Gaps, Known, Meaning, Origin, Signs, UNKNOWN, Word, is_literal},
};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};
use std::borrow::Cow;

/// The limit of alternatives that one word is followed into.
const MAX_ALTERNATIVES: usize = 64;
/// The limit of command lines that one command with alternatives may stand for.
const MAX_WAYS: usize = 64;
/// Returns the text of a piece that stands for itself.
fn written(piece: &Piece) -> Option<&SmolStr> {
    let text = match piece {
        Piece::Bare(text) if text.contains('{') => return None,
        Piece::Bare(text) | Piece::Quoted(text) => text,
        Piece::Element | Piece::Glob(_) | Piece::Tilde(_) | Piece::Parameter(_) => return None,
        Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => return None,
    };
    is_literal(text).then_some(text)
}

/// Returns the text of a word without expansions, and the signs in it. Most words have only one piece.
fn plain_text(word: &RawWord) -> Option<(&SmolStr, Signs)> {
    let [piece @ (Piece::Bare(text) | Piece::Quoted(text))] = word.pieces.as_slice() else { return None };
    let special = if matches!(piece, Piece::Bare(_)) { Signs::BRACE.or(Signs::PRIVATE) } else { Signs::PRIVATE };
    let signs = Signs::of(text);
    (!signs.has(special)).then_some((text, signs))
}

/// Returns the argument of a word of several pieces without expansions.
fn plain(word: &RawWord) -> Option<Word> {
    let mut text = SmolStrBuilder::new();
    let mut glob = false;
    for piece in &word.pieces {
        match piece {
            Piece::Element => text.push_str(&SmolStr::from(Fragment::Element)),
            Piece::Glob(c) => {
                text.push(*c);
                glob = true;
            }
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Tilde(_) | Piece::Parameter(_) => text.push_str(written(piece)?),
            Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => return None,
        }
    }
    let text = text.finish();
    let is_pattern = glob && text != "[";
    Some(Word::literal(text, word.span).globbing(is_pattern))
}

impl Interpreter<'_> {
    /// Returns all arguments that `words` may become, including all alternatives.
    pub(super) fn expand_all(&mut self, words: &[RawWord]) -> Vec<Word> {
        let Lines { start: mut all, slots } = self.lines(words);
        slots.for_each(|slot| slot.add_all(&mut all));
        all
    }

    /// Returns the command lines that `words` may become. There is more than one if some expansion has several values.
    pub(super) fn ways(&mut self, words: &[RawWord]) -> Few<Vec<Word>> {
        let Lines { start, slots } = self.lines(words);
        if slots.is_empty() { Few::One(start) } else { self.all_ways(start, slots) }
    }

    /// Returns the command lines that begin with the words `way`.
    #[inline(never)]
    fn all_ways(&mut self, mut way: Vec<Word>, mut slots: Few<Slot>) -> Few<Vec<Word>> {
        let count = |slots: &[Slot]| slots.iter().fold(1_usize, |count, slot| count.saturating_mul(slot.count()));
        if count(&slots) > MAX_WAYS {
            slots.iter_mut().for_each(Slot::keep_ends_of_numbers);
        }
        if count(&slots) > MAX_WAYS {
            self.mark_unknown("more ways to read it than are followed");
            slots.for_each(|slot| slot.add_all(&mut way));
            return Few::One(way);
        }
        let mut ways = Few::One(way);
        slots.for_each(|slot| slot.extend(&mut ways));
        ways
    }

    fn lines(&mut self, words: &[RawWord]) -> Lines {
        let mut lines = Lines { start: Vec::with_capacity(words.len()), slots: Few::default() };
        for word in words {
            match plain_text(word) {
                Some((text, signs)) => lines.push(Word::signed(text.clone(), signs, word.span)),
                None => self.expand(word, &mut lines),
            }
        }
        lines
    }

    /// Adds what a word of other pieces may become. A word with braces may become several words.
    #[inline(never)]
    fn expand(&mut self, word: &RawWord, lines: &mut Lines) {
        if let Some(arg) = plain(word) {
            // Where a pattern has no match, bash ends the commands with a setting. In zsh, nothing follows.
            if arg.is_pattern() && self.scope.may_not_exit() {
                self.scope.may_fail();
            }
            return lines.push(arg);
        }
        if let [Piece::Bare(text)] = word.pieces.as_slice()
            && brace::is_one_word(text)
            && is_literal(text)
            // As much as its characters cost one by one.
            && self.budget.try_expand(text.char_indices().map(|(at, c)| at + c.len_utf8()).sum())
        {
            return lines.push(Word::written(text.clone(), word.span).meaning(Meaning::Number));
        }
        let Some(expansion) = brace::expand(&word.pieces) else {
            return lines.push_one_of(self.expand_pieces(&word.pieces, word.span, true));
        };
        if expansion.expands && self.dialect.needs_posix() {
            self.mark_dangerous("the shell that runs this text does not expand braces");
        }
        if !expansion.complete {
            self.uses.lose();
            self.mark_unknown("more braces than are followed");
        }
        for pieces in &expansion.words {
            lines.push_one_of(self.expand_pieces(pieces, word.span, true));
        }
    }

    /// Returns the possible texts of a word that is never split: an assigned value, a here-document.
    pub(super) fn expand_whole(&mut self, word: &RawWord) -> Few<Word> {
        self.expand_text(&word.pieces, word.span)
    }

    /// Returns the possible names of the target of a redirection: those that its braces stand for, and the text itself
    /// for a shell that expands no braces.
    pub(super) fn expand_target(&mut self, word: &RawWord) -> Few<Word> {
        let mut targets = self.expand_whole(word);
        if let Some(expansion) = brace::expand(&word.pieces).filter(|expansion| expansion.expands) {
            if !expansion.complete {
                self.uses.lose();
                self.mark_unknown("more braces than are followed");
            }
            for pieces in &expansion.words {
                targets.extend(self.expand_text(pieces, word.span));
            }
        }
        targets
    }

    /// Returns the possible texts of pieces that are never split.
    pub(super) fn expand_text(&mut self, pieces: &[Piece], span: Span) -> Few<Word> {
        if let [piece] = pieces
            && let Some(text) = written(piece)
            && self.budget.try_expand(text.len())
        {
            return Few::One(Word::written(text.clone(), span).meaning(Meaning::Number));
        }
        match self.expand_pieces(pieces, span, false) {
            Few::One(words) => words,
            Few::Many(alternatives) => alternatives.into_iter().flatten().collect(),
        }
    }

    fn expand_pieces(&mut self, pieces: &[Piece], span: Span, splits: bool) -> Few<Few<Word>> {
        let mut drafts = Few::One(Draft::default());
        for (at, piece) in pieces.iter().enumerate() {
            if !self.budget.expands() {
                // The commands in the piece still count, but its value does not.
                if may_run(piece) {
                    self.expand_piece(piece, &mut Few::One(Draft::default()), splits);
                }
                drafts = Few::One(Draft::unknown());
                continue;
            }
            self.expand_piece(piece, &mut drafts, splits);
            if at.checked_add(1).and_then(|next| pieces.get(next)).is_some_and(|next| self.modifies(piece, next)) {
                drafts.push(Draft::unknown());
            }
            let made = |draft: &mut Draft| draft.text.len() + std::mem::take(&mut draft.made);
            if !self.budget.expand(drafts.iter_mut().map(made).sum()) {
                self.mark_unknown("expansions longer than are followed");
                drafts = Few::One(Draft::unknown());
            }
        }
        let other_blanks = self.scope.assigned("IFS").is_some();
        let reckons =
            |piece: &Piece| matches!(piece, Piece::Bare(_) | Piece::Quoted(_) | Piece::Element | Piece::Arithmetic(_));
        let meaning = if pieces.iter().all(reckons) {
            Meaning::Number
        } else if pieces.iter().all(|piece| self.is_named(piece)) {
            Meaning::Address
        } else {
            Meaning::Anything
        };
        let is_printed_whole = drafts.as_slice().len() == 1 && self.prints_whole(pieces);
        let finish = |mut draft: Draft| {
            draft.started |= !splits || !draft.text.is_empty();
            let mut words = draft.into_words();
            for arg in words.iter_mut() {
                let blanks = other_blanks && arg.is_expanded();
                let open = blanks || pieces.iter().any(|piece| is_open_list(piece, arg.known()));
                arg.complete(span, open, meaning);
                if is_printed_whole {
                    arg.set_printed_whole();
                }
            }
            words
        };
        drafts.map(finish)
    }

    /// Returns true if zsh may take the beginning of the text behind an expansion for a change of its value, as in
    /// `$file:h`.
    fn modifies(&self, piece: &Piece, next: &Piece) -> bool {
        let (Piece::Parameter(_), Piece::Bare(text) | Piece::Quoted(text)) = (piece, next) else { return false };
        let modifier = text.strip_prefix(':').and_then(|text| text.chars().next());
        self.dialect.may_be_zsh() && modifier.is_some_and(|c| c.is_ascii_alphabetic() || c == '&')
    }

    /// Returns true for literal text with the output of commands that print literal text, as in
    /// `"$(cat <<'EOF' … EOF)"`.
    fn prints_whole(&self, pieces: &[Piece]) -> bool {
        let is_output = |piece: &Piece| matches!(piece, Piece::Command { .. });
        let prints = |piece: &Piece| {
            if let Piece::Command { script, quoted: true } = piece {
                return self.literal_output(script).is_some() || self.says(script);
            }
            written(piece).is_some()
        };
        pieces.iter().any(is_output) && pieces.iter().all(prints)
    }

    /// Returns the command of a script that is one program or builtin, and no function of the line.
    fn only_command<'s>(&self, script: &'s Script) -> Option<(&'s str, &'s Command, &'s Simple)> {
        let [statement] = script.statements.as_slice() else { return None };
        let [pipeline] = statement.pipelines.as_slice() else { return None };
        let [command] = pipeline.commands.as_slice() else { return None };
        let Form::Simple(simple) = &command.form else { return None };
        let name = bare_text(simple.words.first()?)?;
        let is_plain = !statement.background && simple.assignments.is_empty() && self.scope.function(name).is_none();
        is_plain.then_some((name, command, simple))
    }

    /// Returns the output of `cat` with a literal here-document.
    fn literal_output(&self, script: &Script) -> Option<String> {
        let ("cat", command, Simple { words, .. }) = self.only_command(script)? else { return None };
        let ([redirect], [_]) = (command.redirects.as_slice(), words.as_slice()) else { return None };
        let Flow::HereDocument(body) = redirect.flow else { return None };
        let body = self.bodies.get(body).filter(|_| redirect.descriptor.unwrap_or(0) == 0)?;
        let text = body.pieces.iter().map(|piece| written(piece).map(SmolStr::as_str)).collect::<Option<String>>()?;
        Some(text.trim_end_matches('\n').to_owned())
    }

    /// Returns true for `echo` or `printf` with literal words.
    fn says(&self, script: &Script) -> bool {
        let is_literal = |word: &RawWord| word.pieces.iter().all(|piece| written(piece).is_some());
        let only = self.only_command(script);
        only.is_some_and(|(name, command, simple)| {
            matches!(name, "echo" | "printf") && command.redirects.is_empty() && simple.words.iter().all(is_literal)
        })
    }

    /// Returns true for literal text, and for an environment variable whose name suggests an address, a number or a
    /// name.
    fn is_named(&self, piece: &Piece) -> bool {
        let written = |piece: &Piece| matches!(piece, Piece::Bare(_) | Piece::Quoted(_));
        match piece {
            Piece::Parameter(parameter) => {
                matches!(parameter.form, Change::Nothing | Change::Required | Change::Default)
                    && parameter.subscript.is_empty()
                    && parameter.inside.pieces.iter().all(written)
                    && self.scope.assigned(&parameter.name).is_none()
                    && variables::names_an_address(&parameter.name)
            }
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Element => true,
            Piece::Glob(_) | Piece::Tilde(_) | Piece::Command { .. } | Piece::Process(_) => false,
            Piece::Arithmetic(_) => false,
        }
    }

    /// Returns the characters that end a word outside quotes.
    fn separators(&self) -> Cow<'static, [char]> {
        const BLANKS: &[char] = &[' ', '\t', '\n'];
        match self.scope.assigned("IFS") {
            None => BLANKS.into(),
            Some(value) => {
                let others = value.texts.iter().flat_map(|text| text.chars()).take(16);
                BLANKS.iter().copied().chain(others).collect()
            }
        }
    }

    fn expand_piece(&mut self, piece: &Piece, drafts: &mut Few<Draft>, splits: bool) {
        match piece {
            Piece::Bare(text) | Piece::Quoted(text) => drafts.iter_mut().for_each(|draft| draft.push(text)),
            Piece::Element => drafts.iter_mut().for_each(Draft::start_element),
            Piece::Glob(c) => drafts.iter_mut().for_each(|draft| {
                draft.push(c.encode_utf8(&mut [0; 4]));
                draft.glob = true;
            }),
            Piece::Tilde(name) => {
                // A line may set the directory of `~+`, and zsh takes a variable for the name of a directory.
                let is_set = if name == "+" { self.scope.assigned("PWD") } else { self.scope.assigned(name) };
                let (value, known) = match is_set {
                    Some(_) => (Fragment::Unknown.to_string(), Known::Partly),
                    None => (tilde(name), Known::Form),
                };
                drafts.iter_mut().for_each(|draft| draft.push_value(&value, known, None));
            }
            Piece::Parameter(parameter) => self.expand_parameter(parameter, drafts, splits),
            Piece::Command { script, quoted } => self.expand_output(script, !quoted && splits, drafts),
            Piece::Process(script) => {
                let content = self.content(script).map(String::into_boxed_str);
                drafts.iter_mut().for_each(|draft| {
                    draft.push("/dev/fd/63");
                    draft.content.clone_from(&content);
                    draft.origin = Origin::Output;
                });
            }
            Piece::Arithmetic(inside) => {
                self.arithmetic(inside);
                drafts
                    .iter_mut()
                    .for_each(|draft| draft.push_value(&Fragment::NonEmpty.to_string(), Known::Form, None));
            }
        }
    }

    /// Appends the output of a command. Outside quotes, the output `splits`.
    #[inline(never)]
    fn expand_output(&mut self, script: &Script, splits: bool, drafts: &mut Few<Draft>) {
        let literal = self.literal_output(script).filter(|_| !splits);
        let (Value { texts, known, .. }, content) = self.substitution(script);
        // A directory that the line itself has chosen may have a name of several words.
        let chosen = self.scope.places != Places::default() || output::follows_links(script);
        let several = splits && chosen && output::prints_a_path(script);
        let known = if several { Known::Partly } else { known };
        let (text, known) = match literal {
            Some(text) => (text.into(), Known::Fully),
            None => (texts.into_iter().next().unwrap_or_default(), known),
        };
        let content = content.map(String::into_boxed_str);
        let separators = splits.then(|| self.separators());
        for draft in drafts.iter_mut() {
            draft.push_value(&text, known, separators.as_deref());
            draft.content.clone_from(&content);
            draft.origin = Origin::Output;
        }
    }

    /// Appends the value of a parameter.
    #[inline(never)]
    fn expand_parameter(&mut self, parameter: &Parameter, drafts: &mut Few<Draft>, splits: bool) {
        let elements = self.list_in_zsh(parameter, splits);
        // A value that the expansion does not change is not copied.
        let changed;
        let value = match self.scope.assigned(&parameter.name) {
            Some(value) if !value.list && parameter.is_plain() => value,
            _ => {
                changed = self.read_parameter(parameter);
                &changed
            }
        };
        if value.known != Known::Fully && self.is_private(parameter) {
            drafts.iter_mut().for_each(|draft| draft.secret = true);
        }
        let separators = (!parameter.quoted && splits).then(|| self.separators());
        let joined = parameter.quoted && (parameter.name == "*" || is_star(parameter));
        let (texts, known, separators) = (&value.texts, value.known, separators.as_deref());
        let unsplit = |separators: &[char]| !value.list && texts.iter().any(|text| text.contains(separators));
        let is_whole = self.dialect.may_be_zsh() && separators.is_some_and(unsplit);
        let both = is_whole || elements.is_some();
        let fits = drafts.len() * texts.len().max(1) < MAX_ALTERNATIVES / 2;
        let mut in_zsh = if both && fits { drafts.clone() } else { Few::default() };
        match &elements {
            Some(list) if separators.is_some() => {
                in_zsh.iter_mut().for_each(|draft| draft.push_list(&list.texts, list.known, None));
            }
            Some(list) => multiply(&mut in_zsh, &[list.texts.join(" ").into()], list.known, None),
            None => multiply(&mut in_zsh, texts, known, None),
        }
        match value.list {
            true if !splits || joined => multiply(drafts, &[texts.join(" ").into()], known, separators),
            true => drafts.iter_mut().for_each(|draft| draft.push_list(texts, known, separators)),
            false => multiply(drafts, texts, known, separators),
        }
        drafts.extend(in_zsh);
        if both && !fits {
            self.mark_dangerous("zsh splits no value, and this one has too many forms to follow");
        }
    }

    /// Returns the list for which a parameter without a subscript stands in zsh. To bash it is the first element.
    fn list_in_zsh(&mut self, parameter: &Parameter, splits: bool) -> Option<Value> {
        let counts = parameter.form == Change::Length || !parameter.subscript.is_empty() || is_all(parameter);
        if counts || !self.dialect.may_be_zsh() {
            return None;
        }
        let list = self.scope.assigned(&parameter.name).filter(|value| value.list && value.texts.len() > 1)?.clone();
        if parameter.form != Change::Nothing || (!splits && !parameter.quoted) {
            self.mark_dangerous("to zsh, the name of a list stands for all of its elements");
            return None;
        }
        Some(list)
    }

    /// Returns true if the value of a parameter may be a secret: that of the variable, or of one in the word inside.
    fn is_private(&self, parameter: &Parameter) -> bool {
        let inner = |piece: &Piece| {
            let Piece::Parameter(inner) = piece else { return false };
            self.scope.read(&inner.name).known != Known::Fully && self.is_private(inner)
        };
        self.may_be_private(&parameter.name) || parameter.inside.pieces.iter().any(inner)
    }

    /// Returns true if an unknown variable may hold a secret. Its name may say so, or the text may have set it to an
    /// unknown value. Environment variables have names in capital letters.
    fn may_be_private(&self, name: &str) -> bool {
        let capitals = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
        let of_environment = capitals && name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic());
        !of_environment || self.scope.assigned(name).is_some() || variables::names_a_secret(name)
    }

    /// Returns the values that a parameter may have after its expansion.
    fn read_parameter(&mut self, parameter: &Parameter) -> Value {
        let value = self.scope.read(&parameter.name);
        if !matches!(parameter.form, Change::List) {
            self.arithmetic(&parameter.subscript);
        }
        let inside = &parameter.inside;
        match parameter.form {
            Change::List => value,
            Change::Nothing | Change::Element => match value {
                Value { list: true, ref texts, known } if parameter.form == Change::Nothing && !is_all(parameter) => {
                    Value::one_of(texts.first().cloned().into_iter().collect(), known)
                }
                Value { list: true, texts, known } if parameter.form == Change::Element => {
                    Value::one_of(texts, known).or(&Value::text(""))
                }
                // To bash, it is the value or nothing, and to zsh, one character.
                value if parameter.form == Change::Element && self.scope.assigned(&parameter.name).is_some() => {
                    value.or(&Value::wild())
                }
                value => value,
            },
            Change::Length => Value::tame(),
            Change::Required => {
                self.expand_whole(inside);
                let full = |text: SmolStr| if text.starts_optional() { Fragment::NonEmpty.into() } else { text };
                Value { texts: value.texts.into_iter().map(full).collect(), ..value }
            }
            Change::Default | Change::Assign | Change::Instead => self.read_or(parameter, value, inside),
            Change::Cut | Change::Edit(_) => {
                // The commands in the pattern run, whatever becomes of the value.
                let words = self.expand_whole(inside);
                let edited = self.edited(parameter, &value, &words);
                self.with_what_it_destroys(parameter, &value, inside, edited)
            }
            Change::Indirect => {
                self.mark_dangerous("an indirect expansion follows a name that is unknown");
                self.expand_whole(inside);
                if !parameter.inside.pieces.is_empty() {
                    // The variable that `${!name:=word}` sets is unknown.
                    self.scope.forget();
                    return Value::wild();
                }
                self.behind(&value)
            }
            Change::Prompt => {
                self.mark_unknown("`@P` expands its value once more, commands included");
                Value::wild()
            }
        }
    }

    /// Returns the values of the variables that the known texts of `names` name, and any other value.
    fn behind(&self, names: &Value) -> Value {
        let known = names.texts.iter().filter(|name| !names.list && self.scope.assigned(name).is_some());
        known.fold(Value::wild(), |all, name| all.or(&self.scope.read(name)))
    }

    /// Evaluates `${name-word}`, `${name=word}` and `${name+word}`.
    fn read_or(&mut self, parameter: &Parameter, value: Value, inside: &RawWord) -> Value {
        let value = if parameter.form == Change::Instead { Value::text("") } else { value };
        let words = self.expand_whole(inside);
        let known = words.iter().map(|word| word.known()).fold(value.known, Known::max);
        let texts = value.texts.into_iter().chain(words.into_iter().map(|word| word.shared_text())).collect();
        let value = Value::one_of(texts, known);
        if parameter.form == Change::Assign {
            self.set(&parameter.name, value.clone());
        }
        value
    }

    /// Adds the result of an edit to the values if it is fully known and a path that must not be removed.
    fn with_what_it_destroys(
        &mut self,
        parameter: &Parameter,
        before: &Value,
        inside: &RawWord,
        edited: Value,
    ) -> Value {
        let sign = if let Change::Edit(sign) = parameter.form { sign } else { b'%' };
        let words = self.named(inside);
        let [word] = words.as_slice() else { return edited };
        if word.known() != Known::Fully {
            return edited;
        }
        let texts = before.texts.iter().take(4).filter(|text| !text.has_gap());
        let doomed = texts
            .filter_map(|text| parameter_expansion::edited(text, sign, word.text()).map(SmolStr::from))
            .find(|text| text.starts_with('/') && critical_paths::is_doomed(text, &Place::Start));
        match doomed {
            Some(text) if !edited.texts.contains(&text) && !edited.list => {
                let known = edited.known;
                Value::one_of(edited.texts.into_iter().chain([text]).collect(), known)
            }
            _ => edited,
        }
    }

    /// Returns a value after an edit that removes, replaces or converts a part of it.
    fn edited(&mut self, parameter: &Parameter, value: &Value, words: &[Word]) -> Value {
        if let Some(first) = first_slash(parameter) {
            return Value::one(first, Known::Form);
        }
        if let Some(exact) = exactly_edited(parameter, value, words) {
            return exact;
        }
        // Only the range of `${x:1:2}` is arithmetic.
        if parameter.form == Change::Edit(b':') {
            self.arithmetic(&parameter.inside.pieces);
        }
        // An edit of blanks leaves blanks, which is an old trick with `$IFS`.
        if parameter.name == "IFS" {
            return Value::one(" ", Known::Environment);
        }
        let known = value.known.max(Known::Form);
        let several = value.texts.iter().any(|text| text.contains(char::is_whitespace));
        if parameter.form == Change::Cut && !value.list && (!several || parameter.quoted) {
            let pattern = words.first().filter(|word| words.len() == 1 && word.is_exact()).map(|word| word.text());
            // The rest of a path is a path or empty. If the pattern is known, the rest is known.
            let left =
                |text: &SmolStr| parameter_expansion::edited(text, b'%', pattern.filter(|_| text.starts_with('/'))?);
            // Nothing may be left of a name that a pattern matches.
            let cut = |text: &SmolStr| match text.chars().next() {
                Some('*' | '?' | '[') => UNKNOWN.into(),
                Some(c) => format_smolstr!("{c}{UNKNOWN}"),
                None => SmolStr::default(),
            };
            let start = |text: &SmolStr| left(text).map_or_else(|| cut(text), SmolStr::from);
            return Value::one_of(value.texts.iter().map(start).collect(), known);
        }
        // A value that the text itself has set may begin with any text after an edit.
        let own =
            self.scope.assigned(&parameter.name).is_some() || parameter.name.parse::<usize>().is_ok() || value.list;
        // `@E` interprets backslash escapes.
        let open = |text: &str| text.contains(['-', '+', '@', '(', '!', '=', '\\']);
        let opens = words.iter().any(|word| word.is_wild() || open(word.text()))
            || own && value.texts.iter().any(|text| open(text));
        let empty = value.texts.iter().all(|text| text.is_empty());
        if (own && (opens || empty)) || value.is_wild() {
            Value::wild()
        } else {
            // A part of a path or of a variable from the environment may begin with a dash.
            let known = if own { known } else { known.max(Known::Environment) };
            Value::one(Fragment::Unknown, known)
        }
    }
}

/// Returns the directory of `~name`.
fn tilde(name: &str) -> String {
    match name {
        "" => Fragment::Home.to_string(),
        "+" => ".".into(),
        "-" => Fragment::Unknown.to_string(),
        name => format!("{}/../{name}", Fragment::Home),
    }
}

/// Returns true if the expansion of a piece may run a command or set a variable.
fn may_run(piece: &Piece) -> bool {
    match piece {
        Piece::Bare(_) | Piece::Quoted(_) | Piece::Element | Piece::Glob(_) | Piece::Tilde(_) => false,
        Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => true,
        Piece::Parameter(parameter) => {
            let plain = matches!(parameter.form, Change::Nothing | Change::List | Change::Element | Change::Length);
            !plain || !parameter.inside.pieces.is_empty() || !parameter.subscript.is_empty()
        }
    }
}

fn is_all(parameter: &Parameter) -> bool {
    matches!(parameter.name.as_str(), "@" | "*")
}

/// Returns true for `${list[*]}`, which is one word inside quotes.
fn is_star(parameter: &Parameter) -> bool {
    matches!(parameter.subscript.as_slice(), [Piece::Quoted(text)] if text == "*")
}

/// Returns true if a piece may become an unknown number of words, even inside quotes.
fn is_open_list(piece: &Piece, known: Known) -> bool {
    let Piece::Parameter(parameter) = piece else { return false };
    let list = !parameter.subscript.is_empty() || parameter.form == Change::Indirect;
    is_all(parameter) || (list && known != Known::Fully)
}

/// Returns the value after an edit if every character of the value and of the edit is known, and stands for itself.
fn exactly_edited(parameter: &Parameter, value: &Value, words: &[Word]) -> Option<Value> {
    let sign = if let Change::Edit(sign) = parameter.form { sign } else { b'%' };
    let [word] = words else { return None };
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let is_exact = match (sign, word.text()) {
        (b',', ",") | (b'^', "^") => true,
        (b'#' | b'%', cut) => is_plain(cut.strip_prefix(char::from(sign)).unwrap_or(cut)),
        (b'/', replaced) => {
            let replaced = replaced.strip_prefix('/').unwrap_or(replaced);
            replaced.split_once('/').is_some_and(|(old, new)| is_plain(old) && is_plain(new))
        }
        (b':', range) => range.chars().all(|c| c.is_ascii_digit() || c == ':'),
        _ => false,
    };
    if !is_exact || value.list || value.known != Known::Fully || !word.is_exact() {
        return None;
    }
    let edited = |text: &SmolStr| parameter_expansion::edited(text, sign, word.text()).map(SmolStr::from);
    let texts = value.texts.iter().map(edited).collect::<Option<Few<SmolStr>>>()?;
    Some(Value::one_of(texts, Known::Fully))
}

/// Returns the slash that `${PATH:0:1}` and similar expansions hide.
fn first_slash(parameter: &Parameter) -> Option<SmolStr> {
    let [Piece::Quoted(range)] = parameter.inside.pieces.as_slice() else { return None };
    let absolute = matches!(parameter.name.as_str(), "PATH" | "HOME" | "PWD" | "SHELL" | "OLDPWD");
    (absolute && matches!(range.trim_start_matches(':').trim(), "0:1" | ":1" | "1" | "0: 1")).then(|| "/".into())
}

/// Appends every value to a copy of every draft.
fn multiply(drafts: &mut Few<Draft>, texts: &[SmolStr], known: Known, separators: Option<&[char]>) {
    if let [text] = texts {
        drafts.iter_mut().for_each(|draft| draft.push_value(text, known, separators));
        return;
    }
    let room = (MAX_ALTERNATIVES / drafts.len().max(1)).max(1);
    let lost = texts.len() > room;
    let known = if lost { Known::Partly } else { known };
    let Some((last, others)) = texts.get(..room).unwrap_or(texts).split_last() else {
        if separators.is_none() {
            // `"$*"` without parameters is one empty word.
            drafts.iter_mut().for_each(|draft| draft.started = true);
        }
        return;
    };
    let mut grown = Vec::with_capacity(drafts.len() * (others.len() + 1));
    std::mem::take(drafts).for_each(|mut draft| {
        draft.open |= lost;
        grown.extend(others.iter().map(|text| {
            let mut draft = draft.clone();
            draft.push_value(text, known, separators);
            draft
        }));
        draft.push_value(last, known, separators);
        grown.push(draft);
    });
    *drafts = grown.into();
}
