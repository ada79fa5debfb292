//! The time for the head of a request, without a timer for each request.
//!
//! The HTTP connection asks for a timer when it begins to wait for a head, and drops it when the head is there. A
//! connection under load does so thousands of times in a second. Here it only notes the time at which the head is late.
//! One real timer for each connection looks at that note from time to time.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hyper::rt::{Sleep, Timer};
use tokio::time;

/// The time at which the head of one connection is late. None if the connection waits for no head.
type Late = Arc<Mutex<Option<time::Instant>>>;

/// The timer that an HTTP connection uses for its heads.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeadTimer(Late);

impl HeadTimer {
    /// Waits until the head is late. `time` is the time for a head. The caller then asks the connection, which ends.
    pub(crate) async fn is_late(&self, time: Duration) {
        let now = time::Instant::now();
        let timer = time::sleep_until(now + time);
        let mut timer = std::pin::pin!(timer);
        loop {
            timer.as_mut().await;
            let now = time::Instant::now();
            match self.late() {
                Some(late) if late <= now => return,
                Some(late) => timer.as_mut().reset(late),
                // A head that begins from now on is late after its time at the earliest.
                None => timer.as_mut().reset(now + time),
            }
        }
    }

    fn late(&self) -> Option<time::Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.note(deadline.into());
        self.wait(deadline.into())
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        // The end of the wait before clears its note, so it comes first.
        *sleep = self.wait(deadline.into());
        self.note(deadline.into());
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }
}

impl HeadTimer {
    fn note(&self, late: time::Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(late);
    }

    fn wait(&self, late: time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Noted { late, by: Arc::clone(&self.0) })
    }
}

/// The wait for one head. It is asked whenever its connection is; [`HeadTimer::is_late`] sees to it that the connection
/// is asked in time.
#[derive(Debug)]
struct Noted {
    late: time::Instant,
    by: Late,
}

impl Future for Noted {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.late <= time::Instant::now() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Sleep for Noted {}

impl Drop for Noted {
    fn drop(&mut self) {
        *self.by.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::rt::Timer;
    use tokio::time;

    use super::HeadTimer;

    const TIME: Duration = Duration::from_secs(10);

    async fn seconds_until_late(timer: &HeadTimer) -> u64 {
        let begin = time::Instant::now();
        timer.is_late(TIME).await;
        begin.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_is_late_exactly_after_its_time_however_late_it_began() {
        for began in [0, 1, 5, 9, 10, 11, 25] {
            let timer = HeadTimer::default();
            let head = async {
                time::sleep(Duration::from_secs(began)).await;
                let wait = timer.sleep(TIME);
                std::future::pending::<()>().await;
                drop(wait);
            };
            let late = tokio::select! {
                late = seconds_until_late(&timer) => late,
                () = head => panic!("it waits for ever"),
            };
            assert_eq!(late, began + 10);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn heads_that_arrive_are_never_late() {
        let timer = HeadTimer::default();
        let heads = async {
            for _ in 0..100 {
                let mut wait = timer.sleep_until(timer.now() + TIME);
                time::sleep(Duration::from_secs(9)).await;
                timer.reset(&mut wait, timer.now() + TIME);
                time::sleep(Duration::from_secs(9)).await;
                drop(wait);
            }
        };
        tokio::select! {
            _ = seconds_until_late(&timer) => panic!("no head was late"),
            () = heads => {}
        }
    }
}
