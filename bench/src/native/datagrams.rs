//! The papers' alphabet client over UDP, on a network that loses, duplicates and reorders packets.

use super::goals::Goals;
use super::programs::Programs;
use super::{Scale, cost, peers};
use crate::table::grouped;
use anyhow::{Context, Result};
use everypath_native::peers::Options;
use everypath_native::{
    Budget, Crossing, Datagrams, Environment, Exhaustive, Explored, IdleMode, Launch, Rules, Setup,
};
use everypath_schedules::reduction::Reduction;
use everypath_trace::Control;
use std::net::UdpSocket;

/// A search is given up after so many executions: then only its rate is told.
const MOST: u64 = 100_000;

/// One search: connections and requests on each, multiplicities and window of what is sent, and the
/// seconds that it should take.
struct Row {
    size: (u32, u32),
    multiply: &'static str,
    window: u32,
    goal: Option<f64>,
}

/// The paper's largest client with loss, and the configurations of its figure 9; where reordering is
/// not bounded, the number of deliveries itself is factorial.
const ROWS: [Row; 7] = [
    Row { size: (3, 3), multiply: "1,0", window: 1, goal: Some(5.0) },
    Row { size: (1, 9), multiply: "1", window: 1, goal: Some(10.0) },
    Row { size: (1, 9), multiply: "1,2", window: 1, goal: Some(10.0) },
    Row { size: (1, 9), multiply: "1,0", window: 1, goal: Some(10.0) },
    Row { size: (1, 9), multiply: "1", window: 2, goal: Some(10.0) },
    Row { size: (1, 9), multiply: "1,0,2", window: 2, goal: Some(10.0) },
    Row { size: (1, 9), multiply: "1", window: 9, goal: None },
];

/// Prints everything.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| alphabet client over UDP, no assertion | executions | seconds | executions/s |");
    println!("|---|--:|--:|--:|");
    for row in &ROWS {
        let (explored, cost) = cost(|| search(programs, row, scale.of(MOST)))?;
        let (sessions, requests) = row.size;
        let name = format!("{sessions} x {requests}, M = {{{}}}, c = {}", row.multiply, row.window);
        let executions = grouped(explored.executions);
        let end = if explored.complete { "" } else { ", not the end" };
        let rate = grouped((explored.executions as f64 / cost.wall()) as u64);
        println!("| {name} | {executions}{end} | {:.2} | {rate} |", cost.wall());
        if let Some(goal) = row.goal {
            let seconds = if explored.complete { cost.wall() } else { f64::INFINITY };
            goals.at_most(format!("UDP, {name}, seconds (at most {goal})"), seconds, goal);
        }
    }
    Ok(())
}

fn search(programs: &Programs, row: &Row, executions: u64) -> Result<Explored> {
    let port = UdpSocket::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
    let port = port.context("failed to find a free port")?.port();
    let server = format!("{} {port}", programs.udp_alphabet_server.display());
    let outside = Environment::new(Options { commands: vec![server], ..Options::default() })
        .context("failed to name the peer")?;
    let (sessions, requests) = row.size;
    let arguments = [u32::from(port), sessions, requests].map(|number| number.to_string());
    let arguments: Vec<String> = arguments.into_iter().chain(["unchecked".into()]).collect();
    let sent = Rules::new(row.multiply.parse()?, row.window, Budget::UNLIMITED)?;
    let everywhere = Crossing { sent, ..Crossing::default() };
    let launch = peers::launch(&programs.udp_alphabet_client, &arguments, outside);
    let setup = Setup {
        idle: IdleMode::Fine,
        datagrams: Datagrams { everywhere, ..Datagrams::default() },
        ..launch.setup
    };
    let exhaustive = Exhaustive {
        launch: Launch { setup, ..launch },
        reduction: Reduction::Optimal,
        executions: Some(executions),
        keep_going: false,
        preemptions: None,
        workers: 1,
        cross_check: None,
        early_timeouts: 0,
    };
    everypath_native::explore(&exhaustive, &Control::default())
        .context("failed to control the alphabet client over UDP")
}
