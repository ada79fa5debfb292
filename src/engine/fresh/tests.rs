use super::*;

#[test]
fn request_ids_are_in_the_order_in_which_they_were_made_and_differ_between_engines() {
    let (one, other) = (RequestIds::default(), RequestIds::default());
    let now = Timestamp::from_millis(1_700_000_000_000);
    let made: Vec<_> = (0..100_000).map(|_| one.next(now)).collect();
    assert!(made.is_sorted_by(|earlier, later| earlier < later));
    assert!(made.last() < Some(&one.next(Timestamp::from_millis(1_700_000_000_001))));
    assert_ne!(made.first(), Some(&other.next(now)));
    let uuid: uuid::Uuid = made[77].to_string().parse().unwrap();
    assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
}
