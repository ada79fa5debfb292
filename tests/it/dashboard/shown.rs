//! The picture of the dashboard in the documentation. `scripts/screenshot` runs this.
#![cfg(feature = "cli")]

use std::path::Path;

use super::{demo::Demo, stage::people};
use crate::support::ROOT;

/// The most bytes of the picture.
const LARGEST: usize = 300_000;

#[tokio::test]
#[ignore = "it writes docs/dashboard.png"]
async fn a_picture_of_the_demo() {
    people(async |people| {
        // The path is on the picture.
        let directory = tempfile::Builder::new().prefix("bestow").rand_bytes(0).tempdir().unwrap();
        let demo = Demo::start_in(directory);
        let browser = demo.opened(people).await;
        let page = browser.page();
        let checker = page.card("checker wants to run a command");
        checker.is_ready().await;
        // The cards are in the order in which the agents asked, which is another one each time.
        browser
            .run(
                "const list = document.querySelector('article').parentElement;
                 for (const name of ['checker', 'writer', 'publisher'])
                     list.append([...list.children].find((card) => card.textContent.includes(name)));
                 list.firstElementChild.focus();
                 for (const time of document.querySelectorAll('time'))
                     if (/ago|now/.test(time.textContent)) time.textContent = '12 s ago';",
                &[],
            )
            .await;
        browser.run("scrollTo(0, 0)", &[]).await;
        let png = browser.png().await;
        assert!(png.len() < LARGEST, "the picture has {} bytes", png.len());
        std::fs::write(Path::new(ROOT).join("docs/dashboard.png"), png).unwrap();
    })
    .await;
}
