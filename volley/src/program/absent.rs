//! The commands that this build leaves out.

#[cfg(not(feature = "edit"))]
pub fn edit(_: &crate::cli::Edit) -> Result<std::process::ExitCode, super::Failure> {
    Err(super::Failure {
        status: super::NOT_BUILT,
        message: crate::features::Lacks("edit").to_string(),
    })
}

#[cfg(not(feature = "import"))]
pub fn import(_: &crate::cli::Import) -> Result<std::process::ExitCode, super::Failure> {
    Err(super::scenario::wrong(
        crate::features::Lacks("import").to_string(),
    ))
}

#[cfg(not(feature = "lua"))]
pub mod lua {
    use std::path::Path;
    use std::process::ExitCode;

    use crate::cli::ScenarioRun;
    use crate::features::Lacks;
    use crate::program::Failure;
    use crate::program::scenario::wrong;

    pub fn run(_: &ScenarioRun) -> Result<ExitCode, Failure> {
        Err(wrong(Lacks("lua").to_string()))
    }

    pub fn check(_: &Path) -> Result<ExitCode, Failure> {
        Err(wrong(Lacks("lua").to_string()))
    }
}
