//! The models of the tables, by the names that the tables use.

use crate::experiment::ExperimentError;
use everypath_explore::{AnyModel, Config, ModelKind, Search, VisitedKind};
use everypath_net::Network;
use everypath_protocols::{Aodv, Arq, Diffusion};

/// What is explored.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) model: &'static str,
    pub(crate) bugs: &'static [&'static str],
    pub(crate) must_contain: Option<&'static str>,
    pub(crate) disabled: &'static [&'static str],
    pub(crate) visited: VisitedKind,
}

impl Setup {
    /// The kind of the model.
    pub(crate) fn kind(&self) -> Result<ModelKind, ExperimentError> {
        match self.model {
            "arq" => Ok(ModelKind::of::<Network<Arq>>()),
            "aodv" => Ok(ModelKind::of::<Network<Aodv>>()),
            "diffusion" => Ok(ModelKind::of::<Network<Diffusion>>()),
            other => Err(ExperimentError::Unknown(format!("model {other}"))),
        }
    }

    /// The model, with so many nodes or with its own number of them.
    pub(crate) fn build(&self, nodes: Option<u32>) -> Result<Box<dyn AnyModel>, ExperimentError> {
        let kind = self.kind()?;
        let bugs = self.bugs.iter().map(ToString::to_string).collect();
        let config = Config { bugs, ..Config::new(nodes.unwrap_or(kind.nodes.default)) };
        kind.build(config).map_err(|why| ExperimentError::Unknown(format!("model: {why}")))
    }

    /// A search of the model, its strategy and bounds aside.
    pub(crate) fn search(&self) -> Result<Search, ExperimentError> {
        let kind = self.kind()?;
        Ok(Search {
            visited: self.visited,
            must_contain: self.must_contain.map(|name| event(&kind, name)).transpose()?,
            disabled: self
                .disabled
                .iter()
                .map(|name| event(&kind, name))
                .collect::<Result<_, _>>()?,
            ..Search::default()
        })
    }
}

/// The number of an event.
pub(crate) fn event(kind: &ModelKind, name: &str) -> Result<u16, ExperimentError> {
    let unknown = || ExperimentError::Unknown(format!("event {name} of {}", kind.name));
    kind.event(name).ok_or_else(unknown)
}
