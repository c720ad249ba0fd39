//! The commands that this build leaves out.

#[cfg(not(feature = "edit"))]
pub fn edit(_: &crate::cli::Edit) -> Result<std::process::ExitCode, super::Failure> {
    let lacks = crate::features::Lacks("edit");
    Err(super::Failure::new(super::status::NOT_BUILT, lacks))
}

#[cfg(not(feature = "import"))]
pub fn import(_: &crate::cli::Import) -> Result<std::process::ExitCode, super::Failure> {
    Err(super::Failure::usage(crate::features::Lacks("import")))
}

#[cfg(not(feature = "lua"))]
pub mod lua {
    use std::path::Path;
    use std::process::ExitCode;

    use crate::cli::ScenarioRun;
    use crate::features::Lacks;
    use crate::program::Failure;

    pub fn run(_: &ScenarioRun) -> Result<ExitCode, Failure> {
        Err(Failure::usage(Lacks("lua")))
    }

    pub fn check(_: &Path) -> Result<ExitCode, Failure> {
        Err(Failure::usage(Lacks("lua")))
    }
}
