//! The state that people see while the disk is behind, and the one that is decided on.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::{
    tale::{Step, Tale},
    *,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn a_state_behind_holds_nothing_that_is_lost_ahead_and_catches_up(
        steps in prop::collection::vec((any::<Step>(), 0..4_usize), 1..60),
    ) {
        let mut tale = Tale::new(Reads::Granted);
        let mut behind = tale.state.clone();
        let mut on_its_way = VecDeque::new();
        for (step, stored) in steps {
            let command = tale.command(step);
            let batch = tale.tell(command).unwrap_or_default();
            batch.iter().for_each(|event| behind.lose(event, &tale.state));
            on_its_way.push_back(batch);
            for batch in (0..stored).map_while(|_| on_its_way.pop_front()) {
                batch.iter().for_each(|event| behind.catch_up(event, &tale.state));
            }
            for (id, grant) in &behind.grants {
                prop_assert_eq!(tale.state.grants.get(id), Some(grant), "lost ahead, or longer here");
            }
        }
        on_its_way.iter().flatten().for_each(|event| behind.catch_up(event, &tale.state));
        prop_assert!(behind == tale.state);
    }

    #[test]
    fn a_state_that_is_written_down_and_read_back_is_equal(steps in prop::collection::vec(any::<Step>(), 1..60)) {
        let mut tale = Tale::new(Reads::Granted);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let image = tale.state.to_image().unwrap();
        prop_assert!(State::from_image(&image).unwrap() == tale.state);
    }
}
