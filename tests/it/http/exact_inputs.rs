//! Numbers of a tool input: an approval is for the digits that were sent, and a card shows them.

use serde_json::{Value, json};

use super::daemon::Daemon;

struct Payer {
    daemon: Daemon,
    bot: String,
    you: String,
}

impl Payer {
    /// Asks to call a tool that nobody declared, with this number in its input.
    async fn pay(&self, number: &str) -> Value {
        let body = format!("{{\"toolName\":\"pay\",\"toolInput\":{{\"to\":{number}}}}}");
        let reply = self.daemon.post(&self.bot, "/v1/authorize", &body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json
    }

    async fn answer(&self, asked: &Value, decision: &str) {
        let path = format!("/v1/requests/{}/answer", asked["requestId"].as_str().unwrap());
        let reply = self.daemon.post(&self.you, &path, &json!({ "decision": decision }).to_string()).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
}

#[tokio::test]
async fn an_approved_number_allows_no_number_with_other_digits() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let payer = Payer { daemon, bot, you };
    for (approved, others) in [
        ("340282366920938463463374607431768211455", &["340282366920938463463374607431768210000", "3.4e38"][..]),
        ("9007199254740993.0", &["9007199254740992.0", "9007199254740993"]),
        ("0.1", &["0.10000000000000000001", "0.1000000000000000055511151231257827"]),
        ("1e400", &["1e401", "0"]),
        ("100", &["100.0000000000000000001", "101"]),
    ] {
        let asked = payer.pay(approved).await;
        assert_eq!(asked["decision"], "ask", "{asked}");
        let waiting = payer.daemon.get(&payer.you, "/v1/requests").await;
        assert!(waiting.json.to_string().contains(approved), "the card shows {approved}: {waiting:?}");
        payer.answer(&asked, "allow").await;
        for other in others {
            let asked = payer.pay(other).await;
            assert_eq!(asked["decision"], "ask", "{approved} is not {other}");
            payer.answer(&asked, "deny").await;
        }
        assert_eq!(payer.pay(approved).await["decision"], "allow", "{approved}");
    }
}
