//! Processes that go on after the call that started them.
