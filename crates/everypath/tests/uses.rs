//! Programs as people have them: input, scripts, mapped files, generated code.

use crate::support::Programs;
use crate::support::endings::property;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const FOLDER: &str = "../crates/everypath/tests/programs/uses";

fn programs(names: &[&str]) -> Programs {
    let sources: Vec<String> = names.iter().map(|name| format!("{FOLDER}/{name}.c")).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    Programs::new(&sources)
}

/// It is a file, which is there again in every execution.
#[test]
fn standard_input_is_a_file() {
    let programs = programs(&["sums"]);
    fs::write(programs.folder.path().join("numbers"), "1 2 3\n").unwrap();
    for options in ["", "--strategy random --max-executions 5", "--restart fork", "--verify"] {
        for program in ["./sums", "./sums /dev/stdin", "./sums /proc/self/fd/0"] {
            let (code, result) = programs.check(&format!("{options} --stdin numbers -- {program}"));
            assert_eq!(code, 0, "{options} {program}: {result}");
        }
    }
    // Without it, input is at its end; and what is not there is said.
    assert_eq!(programs.check("--exit-code 4 -- ./sums").0, 0);
    let missing = programs.everypath("check --stdin absent -- ./sums");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("absent for --stdin"), "{missing:?}");
    // A replay reads the same.
    let (code, result) = programs.check("--stdin numbers --exit-code 9 -- ./sums");
    assert_eq!((code, property(&result)), (1, "exit-code"), "{result}");
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
}

/// What runs is the interpreter, with the argument of the first line and the script.
#[test]
fn scripts_are_checked_by_their_interpreter() {
    let programs = programs(&["sums"]);
    let folder = programs.folder.path();
    let script = folder.join("script");
    fs::write(folder.join("numbers"), "1 2 3\n").unwrap();
    for (first_line, given, code) in
        [("./sums numbers", "", 0), ("/usr/bin/env ./sums", "", 4), ("./sums numbers", "more", 0)]
    {
        fs::write(&script, format!("#!{first_line}\n6\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let words = format!("--exit-code {code} -- ./script {given}");
        let (ended, result) = programs.check(&words);
        assert_eq!(ended, 0, "{first_line}: {result}");
        assert!(result["target"].as_str().unwrap().contains("./script"), "{result}");
    }
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    assert_eq!(programs.everypath("check -- ./script").status.code(), Some(2));
}

/// All mappings of a file are the same memory, and calls that read and write it are accesses of it.
#[test]
fn mapped_files_are_shared_by_threads() {
    let programs = programs(&["maps"]);
    for options in ["", "--reduction none", "--strategy random", "--verify"] {
        let (code, result) = programs.check(&format!("{options} -- ./maps atomic"));
        assert_eq!(code, 0, "{options}: {result}");
    }
    for how in ["loads", "calls"] {
        for options in ["", "--reduction none", "--races explore", "--strategy random"] {
            let (code, result) = programs.check(&format!("{options} -- ./maps {how}"));
            assert_eq!(code, 1, "{options} {how}: {result}");
            assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
        }
    }
}

/// It runs, and the verdict says that nobody saw what it accesses.
#[test]
fn generated_code_is_run_and_said_to_be_unseen() {
    let programs = programs(&["generates"]);
    for options in ["", "--strategy random", "--restart copy", "--restart fork", "--verify"] {
        for program in ["./generates", "./generates at-once"] {
            let (code, result) = programs.check(&format!("{options} -- {program}"));
            assert_eq!(code, 0, "{options} {program}: {result}");
            let unseen = result["coverage"]["unseen_code"].to_string();
            assert!(unseen.contains("code that the program generates"), "{result}");
        }
    }
}

/// What is different with each fresh peer is chance, and no memory of other connections.
#[test]
fn random_answers_are_no_memory_of_a_peer() {
    let programs = programs(&["dice"]);
    let (code, result) = programs.check("--peer './dice serve 17231' -- ./dice ask 17231");
    assert_eq!(code, 0, "{result}");
    let assumptions = result["assumptions"].to_string();
    assert!(assumptions.contains("but for what they say by chance or time"), "{result}");
}

/// Nothing of the program is run.
#[test]
fn the_doctor_says_what_of_a_program_is_supported() {
    let programs = programs(&["maps"]);
    let said = |program: &str| {
        let output = programs.everypath(&format!("doctor {program}"));
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = said("./maps");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("program            ./maps, dynamically linked\n"), "{text}");
    assert!(text.contains("libc.so.6") && text.contains("debug information  yes"), "{text}");
    assert!(text.ends_with("All calls found in its code are modelled or passed to the kernel.\n"));
    assert!(!programs.folder.path().join("counter").exists());
    let (code, text) = said("/bin/sh");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not modelled       fork (in "), "{text}");
    assert_eq!(said("/no/such/program").0, Some(2));
}
