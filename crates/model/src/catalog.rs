//! The catalog of models that a command line offers.

use crate::network::check_links;
use crate::simulated::Simulated;
use crate::suggest;
use crate::usage::Usage;
use everypath_explore::{AnyModel, Config, Model, ModelKind, NodeRange, Parameter};
use everypath_net::{Faults, Network, Scenario, Traffic};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The models to choose from.
#[derive(Default)]
pub struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    /// A catalog of one model.
    pub fn of<M: Model + 'static>() -> Self {
        Catalog::default().with::<M>()
    }

    /// Adds a model.
    #[must_use]
    pub fn with<M: Model + 'static>(mut self) -> Self {
        self.entries.push(Entry { kind: ModelKind::of::<M>(), simulated: None });
        self
    }

    /// Adds a protocol that can be explored and simulated.
    #[must_use]
    pub fn simulated<P: Scenario + Traffic + 'static>(mut self) -> Self {
        self = self.with::<Network<P>>();
        self.entries.last_mut().expect("one was just added").simulated = Some(Simulated::of::<P>());
        self
    }

    /// Whether there is any model that can be simulated.
    pub(crate) fn simulates(&self) -> bool {
        self.entries.iter().any(|entry| entry.simulated.is_some())
    }

    /// The model of this name, and its simulation.
    pub(crate) fn find_simulated(&self, name: &str) -> Result<(&Entry, Simulated), Usage> {
        let entry = self.find(name)?;
        let able = self.entries.iter().filter(|entry| entry.simulated.is_some());
        let able: Vec<&str> = able.map(|entry| entry.kind.name).collect();
        let choice = if able.is_empty() {
            String::new()
        } else {
            format!("; choose from: {}", able.join(", "))
        };
        let unable = || Usage::new(format!("{name} can be explored but not simulated{choice}"));
        Ok((entry, entry.simulated.ok_or_else(unable)?))
    }

    /// All models.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The model of this name.
    pub fn find(&self, name: &str) -> Result<&Entry, Usage> {
        let names = self.entries.iter().map(|entry| entry.kind.name);
        Ok(&self.entries[suggest::find("model", name, names)?])
    }

    /// The models with their bugs and features, a line each, for the help text.
    pub(crate) fn overview(&self) -> String {
        let mut lines = String::from("Models:\n");
        for entry in &self.entries {
            lines += &format!("  {:<16} {}\n", entry.kind.name, entry.kind.about);
            for bug in entry.kind.bugs {
                lines += &format!("    --bug {:<14} {}\n", bug.name, bug.about);
            }
            for feature in entry.kind.features {
                lines += &format!("    --feature {:<10} {}\n", feature.name, feature.about);
            }
            for Parameter { name, about, min, max, default } in entry.kind.parameters {
                let name = format!("{name}=N");
                lines += &format!("    --set {name:<14} {about}: {min} to {max} [{default}]\n");
            }
        }
        lines
    }
}

/// What is known of a model before it is built.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its kind.
    pub kind: ModelKind,
    simulated: Option<Simulated>,
}

impl Entry {
    /// Builds the model, after checking the request.
    pub fn build(&self, mut config: Config) -> Result<Box<dyn AnyModel>, Usage> {
        self.check_nodes("the number of nodes is", config.nodes, self.kind.nodes)?;
        config.bugs = self.bugs(&config.bugs)?;
        config.features = self.features(config.features.as_deref())?;
        config.set.iter().try_for_each(|(name, value)| self.check_set(name, *value))?;
        for name in config.faults.keys() {
            suggest::find("fault", name, Faults::NAMES)?;
        }
        if let Some(links) = &config.links {
            check_links(config.nodes, links)?;
        }
        let name = self.kind.name;
        let unfit = |why| Usage::new(format!("{name} cannot be explored so: {why}"));
        self.kind.build(config).map_err(unfit)
    }

    /// Checks a number of nodes, and where it comes from.
    pub(crate) fn check_nodes(
        &self,
        origin: &str,
        nodes: u32,
        range: NodeRange,
    ) -> Result<(), Usage> {
        let NodeRange { min, max, .. } = range;
        if (min..=max).contains(&nodes) {
            return Ok(());
        }
        let range = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        let name = self.kind.name;
        Err(Usage::new(format!("{origin} {nodes}: {name} has {range} nodes")))
    }

    /// The bugs of these names, in their own order, each once.
    pub(crate) fn bugs(&self, names: &[String]) -> Result<Vec<String>, Usage> {
        let known: Vec<&str> = self.kind.bugs.iter().map(|bug| bug.name).collect();
        choose(&format!("bug of {}", self.kind.name), names, &known)
    }

    /// The features of these names, in their own order, each once.
    pub(crate) fn features(&self, names: Option<&[String]>) -> Result<Option<Vec<String>>, Usage> {
        let known: Vec<&str> = self.kind.features.iter().map(|feature| feature.name).collect();
        let choose = |names| choose(&format!("feature of {}", self.kind.name), names, &known);
        names.map(choose).transpose()
    }

    /// Checks the value of a parameter.
    fn check_set(&self, name: &str, value: i64) -> Result<(), Usage> {
        let known = self.kind.parameters;
        if known.is_empty() {
            return Err(Usage::new(format!("--set {name}: {} has no parameters", self.kind.name)));
        }
        let what = format!("parameter of {}", self.kind.name);
        let at = suggest::find(&what, name, known.iter().map(|parameter| parameter.name))?;
        let Parameter { min, max, .. } = known[at];
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(Usage::new(format!("--set {name}={value}: it must be from {min} to {max}")))
    }

    /// The parameters that are set.
    pub(crate) fn set(&self, settings: &[String]) -> Result<BTreeMap<String, i64>, Usage> {
        let set = assignments("--set", "NAME=VALUE", settings)?;
        set.iter().try_for_each(|(name, value)| self.check_set(name, *value))?;
        Ok(set)
    }

    /// The number of the event of this name.
    pub(crate) fn event(&self, name: &str) -> Result<u16, Usage> {
        let what = format!("event of {}", self.kind.name);
        suggest::find(&what, name, self.kind.events.iter().map(|event| event.name))
            .map(|at| at as u16)
    }
}

/// Names with numbers, each once, from such as `loss=2`.
pub(crate) fn assignments<T: FromStr>(
    option: &str,
    form: &str,
    list: &[String],
) -> Result<BTreeMap<String, T>, Usage> {
    let mut values = BTreeMap::new();
    for text in list {
        let wrong = || Usage::new(format!("{option} {text}: give it as {form}, with a number"));
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let value = value.parse().map_err(|_| wrong())?;
        if values.insert(name.to_string(), value).is_some() {
            return Err(Usage::new(format!("{option} {name} is given twice; give it once")));
        }
    }
    Ok(values)
}

/// The `known` ones of these names, in the order in which they are known, each once.
fn choose(what: &str, names: &[String], known: &[&str]) -> Result<Vec<String>, Usage> {
    let find = |name: &String| suggest::find(what, name, known.iter().copied());
    let mut chosen = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen.into_iter().map(|at| known[at].into()).collect())
}
