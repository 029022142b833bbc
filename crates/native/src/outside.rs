//! The world outside the program: what its questions in the middle of an execution are put to.

use crate::region::Shared;
use everypath_commtree::{Memory, Name};
use everypath_shim_abi::{Asked, Question};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// Peers and what they have answered. It outlives workers: clones are the same world.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    world: Arc<Mutex<World>>,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    trees: Option<Shared<Memory>>,
}

impl Outside {
    /// The world, while nobody else asks it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl World {
    /// The trees of all that was ever said, shared with every worker.
    pub(crate) fn trees(&mut self) -> io::Result<&Shared<Memory>> {
        if self.trees.is_none() {
            self.trees = Some(Shared::zeros(c"everypath-trees")?);
        }
        Ok(self.trees.as_ref().expect("just made"))
    }

    /// Answers a question by letting the trees grow; or says why it cannot.
    pub(crate) fn answer(&mut self, question: &Question, _message: &[u8]) -> Result<(), String> {
        let trees = self.trees().map_err(|error| error.to_string())?;
        let name = Name(question.name);
        match question.asked {
            Asked::Connect | Asked::Accept | Asked::Datagram => {
                trees.refuse(name).map_err(|error| format!("{error:?}"))
            }
            Asked::Write | Asked::Finish => Err("there is no such connection".into()),
            Asked::Nothing | Asked::Refused => Err("nothing was asked".into()),
        }
    }
}
