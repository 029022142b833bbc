//! What the network may do to datagrams: everywhere, or at one port.

use super::CheckConfig;
use super::values::BadValue;
use everypath_perturb::{Budget, Direction, Multiplicities};
use std::fmt;
use std::str::FromStr;

/// The options about datagrams, without their `udp-`; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpRules {
    /// How often a datagram may arrive.
    pub multiply: Option<Multiplicities>,
    /// How many datagrams the network holds at a time.
    pub window: Option<u32>,
    /// Which datagrams this is about.
    pub direction: Option<Direction>,
    /// `multiply` for those that are sent.
    pub send_multiply: Option<Multiplicities>,
    /// `multiply` for those that are received.
    pub receive_multiply: Option<Multiplicities>,
    /// `window` for those that are sent.
    pub send_window: Option<u32>,
    /// `window` for those that are received.
    pub receive_window: Option<u32>,
    /// How many faults there may be.
    pub budget: Option<Budget>,
}

impl UdpRules {
    /// The settings that were made: names and values.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let text = [
            ("multiply", self.multiply.map(|it| it.to_string())),
            ("window", self.window.map(|it| it.to_string())),
            ("direction", self.direction.map(|it| it.to_string())),
            ("send-multiply", self.send_multiply.map(|it| it.to_string())),
            ("receive-multiply", self.receive_multiply.map(|it| it.to_string())),
            ("send-window", self.send_window.map(|it| it.to_string())),
            ("receive-window", self.receive_window.map(|it| it.to_string())),
            ("budget", self.budget.map(|it| it.to_string())),
        ];
        text.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn set(&mut self, setting: &str) -> Result<(), BadValue> {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let wrong = |error: &dyn fmt::Display| BadValue::new(format!("'{setting}': {error}"));
        let multiplicities = || value.parse::<Multiplicities>().map_err(|error| wrong(&error));
        let window = || match value.parse::<u32>() {
            Ok(window) if window > 0 => Ok(window),
            _ => Err(wrong(&"expected a number above 0")),
        };
        match name {
            _ if value.is_empty() => return Err(unknown(setting)),
            "multiply" => self.multiply = Some(multiplicities()?),
            "window" => self.window = Some(window()?),
            "direction" => {
                self.direction = Some(value.parse().map_err(|error| wrong(&error))?);
            }
            "send-multiply" => self.send_multiply = Some(multiplicities()?),
            "receive-multiply" => self.receive_multiply = Some(multiplicities()?),
            "send-window" => self.send_window = Some(window()?),
            "receive-window" => self.receive_window = Some(window()?),
            "budget" => self.budget = Some(value.parse().map_err(|error| wrong(&error))?),
            _ => return Err(unknown(setting)),
        }
        Ok(())
    }
}

fn unknown(setting: &str) -> BadValue {
    BadValue::new(format!(
        "'{setting}' is no setting: write KEY=VALUE, KEY of multiply, window, direction, budget, \
         send-multiply, receive-multiply, send-window, receive-window"
    ))
}

/// Settings for one port, as `7000 multiply=1,0 window=2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "String", into = "String"))]
pub struct UdpAtPort {
    /// The port.
    pub port: u16,
    /// What holds there.
    pub rules: UdpRules,
}

impl FromStr for UdpAtPort {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let mut words = text.split_whitespace();
        let port = words.next().and_then(|word| word.parse().ok()).filter(|&port| port != 0);
        let port = port
            .ok_or_else(|| BadValue::new("begin with the number of a port: '7000 multiply=1,0'"))?;
        let mut rules = UdpRules::default();
        for setting in words {
            rules.set(setting)?;
        }
        if rules == UdpRules::default() {
            return Err(BadValue::new(format!(
                "nothing is said of port {port}: add multiply=1,0 or the like"
            )));
        }
        Ok(UdpAtPort { port, rules })
    }
}

impl fmt::Display for UdpAtPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.port)?;
        self.rules.settings().iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl CheckConfig {
    /// What the network may do wherever nothing is said of the port.
    pub fn udp_rules(&self) -> UdpRules {
        UdpRules {
            multiply: self.udp_multiply,
            window: self.udp_window,
            direction: self.udp_direction,
            send_multiply: self.udp_send_multiply,
            receive_multiply: self.udp_receive_multiply,
            send_window: self.udp_send_window,
            receive_window: self.udp_receive_window,
            budget: self.udp_budget,
        }
    }

    /// The options about datagrams, as words of a command line.
    pub fn udp_options(&self) -> Vec<String> {
        let ports = self.udp_at.iter().map(|at| ("at", at.to_string()));
        let settings = self.udp_rules().settings().into_iter().chain(ports);
        settings.map(|(name, value)| format!("--udp-{name}={value}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_port_are_read_as_they_are_written() {
        for text in ["7000 multiply=1,0 window=2 budget=loss=1", "1 direction=send send-window=3"] {
            assert_eq!(text.parse::<UdpAtPort>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "0 window=2", "7000", "7000 window=0", "7000 windw=2", "7000 multiply="] {
            assert!(text.parse::<UdpAtPort>().is_err(), "{text}");
        }
    }
}
