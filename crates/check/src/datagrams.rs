//! What the network may do to datagrams, from the options that say so.

use crate::error::CheckError;
use everypath_native::{Crossing, Datagrams, MAX_PORTS};
use everypath_perturb::{Budget, Direction, Multiplicities, Rules};
use everypath_trace::{CheckConfig, UdpRules};

/// The rules for all ports.
pub(crate) fn datagrams(config: &CheckConfig) -> Result<Datagrams, CheckError> {
    let everywhere = crossing(&config.udp_rules())?;
    let mut datagrams = Datagrams { everywhere, ..Datagrams::default() };
    if config.udp_at.len() > MAX_PORTS {
        return Err(CheckError::options(format!("--udp-at can be given up to {MAX_PORTS} times")));
    }
    for (number, at) in config.udp_at.iter().enumerate() {
        let port = at.port;
        if config.udp_at[..number].iter().any(|other| other.port == port) {
            return Err(CheckError::options(format!("--udp-at is given twice for port {port}")));
        }
        datagrams.at_ports[number] = (port, crossing(&at.rules)?);
    }
    Ok(datagrams)
}

fn crossing(udp: &UdpRules) -> Result<Crossing, CheckError> {
    let direction = udp.direction.unwrap_or(Direction::Both);
    let budget = udp.budget.unwrap_or(Budget::UNLIMITED);
    let (multiply_all, window_all) = common(udp, &budget);
    let rules = |is_meant: bool, multiply: Option<Multiplicities>, window: Option<u32>| {
        let (common, width) =
            if is_meant { (multiply_all, window_all) } else { (Multiplicities::ONCE, 1) };
        Rules::new(multiply.unwrap_or(common), window.unwrap_or(width), budget)
            .map_err(|error| CheckError::options(format!("the options for datagrams: {error}")))
    };
    let sends = direction != Direction::Receive;
    let receives = direction != Direction::Send;
    Ok(Crossing {
        sent: rules(sends, udp.send_multiply, udp.send_window)?,
        received: rules(receives, udp.receive_multiply, udp.receive_window)?,
    })
}

/// Multiplicities and window for both directions. A budget says what may happen, if nothing else does.
fn common(udp: &UdpRules, budget: &Budget) -> (Multiplicities, u32) {
    let limited = |faults: u32| faults != u32::MAX;
    let any_named = [budget.loss, budget.duplication, budget.reordering].map(limited);
    let may = |faults: u32| match limited(faults) {
        true => faults > 0,
        false => limited(budget.total) && any_named == [false; 3],
    };
    let choices: &[u8] = match (may(budget.loss), may(budget.duplication)) {
        (false, false) => &[1],
        (true, false) => &[1, 0],
        (false, true) => &[1, 2],
        (true, true) => &[1, 0, 2],
    };
    let multiply = Multiplicities::new(choices).unwrap_or(Multiplicities::ONCE);
    let window = if may(budget.reordering) { 2 } else { 1 };
    (udp.multiply.unwrap_or(multiply), udp.window.unwrap_or(window))
}
