//! Tests of the Model Context Protocol: in this process, over the real `bestow mcp` and `bestow serve`, and with the
//! programs of others.

mod bad_input;
mod client;
mod counterparts;
mod elicitation;
mod http;
mod own_engine;
mod relay;
mod resources;
mod tools;
mod versions;
