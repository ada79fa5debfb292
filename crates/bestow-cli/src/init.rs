//! placeholder

pub(crate) fn init(args: &crate::args::InitArgs) -> Result<crate::exit::Exit, crate::exit::Exit> {
    Err(crate::exit::Exit::failed(args.directory.display()))
}
