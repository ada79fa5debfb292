//! Tests of stored events: their visibility, their recovery, and the effects of disk faults.

#[cfg(feature = "journal")]
mod altered;
#[cfg(feature = "journal")]
mod audit;
#[cfg(feature = "journal")]
mod crash;
#[cfg(all(feature = "config", feature = "journal"))]
mod cuts;
#[cfg(feature = "journal")]
mod damage;
#[cfg(feature = "journal")]
mod directory;
#[cfg(feature = "journal")]
mod disk;
#[cfg(feature = "journal")]
mod earlier;
#[cfg(feature = "journal")]
mod faults;
#[cfg(feature = "journal")]
mod filled;
#[cfg(all(feature = "config", feature = "journal", target_os = "linux"))]
mod full;
#[cfg(feature = "journal")]
mod grouped;
#[cfg(all(feature = "config", feature = "journal"))]
mod heads;
pub(crate) mod held;
#[cfg(feature = "journal")]
mod narrowing;
mod order;
mod restart;
#[cfg(feature = "journal")]
mod snapshots;
mod suite;
