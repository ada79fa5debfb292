//! A foreground agent of bestow as an agent of an editor: the questions to its user are permission cards there.

mod card;
mod conversation;
mod inbox;
mod markdown;
mod message;

use std::io;

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use self::conversation::{Conversation, Order};
use super::lines::{Found, Lines};

pub use card::{Card, Choice, Parts};
pub use inbox::{Inbox, News, UserInbox};
pub use markdown::{block, span};

/// The longest line of an editor that is read, in bytes. A longer one is skipped.
const LONGEST: usize = 4 << 20;

/// The most lines of the editor that wait.
const WAITING: usize = 16;

/// Shows the questions of an inbox in an editor, and returns the answers. It ends when the editor says no more, or when
/// there can be no more questions.
///
/// # Authority
///
/// The person at the editor answers with the authority of the inbox.
///
/// # Errors
///
/// The editor does not read any more.
pub async fn serve(
    mut inbox: impl Inbox,
    editor_says: impl AsyncRead + Send + Unpin + 'static,
    mut to_editor: impl AsyncWrite + Send + Unpin,
) -> io::Result<()> {
    let (said, mut lines) = mpsc::channel(WAITING);
    let reading = tokio::spawn(read(editor_says, said));
    let mut conversation = Conversation::default();
    loop {
        let orders = tokio::select! {
            line = lines.recv() => match line {
                Some(line) => conversation.heard(&line),
                None => break,
            },
            // Before that, no card could be shown, and nobody should wait for an answer.
            news = inbox.next(), if conversation.has_session() => match news {
                Some(news) => conversation.news(news),
                None => break,
            },
        };
        for order in orders {
            let lines = carried_out(&mut inbox, &mut conversation, order).await;
            for line in lines {
                to_editor.write_all(format!("{line}\n").as_bytes()).await?;
            }
            to_editor.flush().await?;
        }
    }
    reading.abort();
    Ok(())
}

async fn carried_out(inbox: &mut impl Inbox, conversation: &mut Conversation, order: Order) -> Vec<serde_json::Value> {
    match order {
        Order::Say(line) => vec![line],
        Order::Answer(question, choice) => {
            let done = inbox.answer(&question, choice).await;
            conversation.answered(&question, choice, done)
        }
        Order::Report(prompt) => conversation.reported(&prompt, inbox.report().await),
    }
}

/// Reads the lines of the editor.
async fn read(editor_says: impl AsyncRead + Unpin, said: mpsc::Sender<Vec<u8>>) {
    let mut lines = Lines::new(editor_says, LONGEST);
    loop {
        match lines.next().await {
            Ok(Found::Line) => {
                if said.send(lines.line.clone()).await.is_err() {
                    return;
                }
            }
            Ok(Found::Beginning) => {
                if lines.pass_over_rest().await.is_err() {
                    return;
                }
            }
            Ok(Found::End) | Err(_) => return,
        }
    }
}
