//! Names of the things a state holds. Each is an index into the scenario's list of its kind.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u8);

        impl $name {
            /// The position in the scenario's list.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                Self(u8::try_from(index).expect("at most 256 of a kind"))
            }
        }
    };
}

id!(
    /// A memory cgroup.
    MemcgId
);
id!(
    /// A CPU.
    CpuId
);
id!(
    /// An actor: a thread of control.
    ActorId
);
id!(
    /// A NUMA node.
    NodeId
);
id!(
    /// An inode: a file's pages.
    InodeId
);
id!(
    /// An open file: whoever shares it shares its readahead state.
    FileId
);
