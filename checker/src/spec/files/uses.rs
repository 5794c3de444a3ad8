//! What tasks do with the files of a spec: whose memory their pages are, and who shares what.

use super::{Files, pooled};
use crate::spec::problem::Source;
use mm_model::ids::{CpuId, FileId, InodeId, MemcgId};
use mm_model::scenario::{
    ActorConfig, ActorKind, FilePolicy, MemcgConfig, Op, TaskContext, TaskFlags,
};

/// The devices that end reads, one for each inode.
pub(in crate::spec) fn devices(files: &Files) -> impl Iterator<Item = ActorConfig> {
    files.inodes.iter().enumerate().map(|(at, inode)| ActorConfig {
        name: format!("io/{}", inode.name),
        task: TaskContext { memcg: MemcgId(0), cpu: CpuId(0), flags: TaskFlags::empty() },
        kind: ActorKind::Device(InodeId::from(at)),
    })
}

/// The entries of an actor's program.
fn program(actor: &ActorConfig) -> &[Op] {
    match &actor.kind {
        ActorKind::Task { program, .. } => program,
        ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => &[],
    }
}

/// Whose memory a file's pages are, and who shares what.
pub(in crate::spec) fn settle(
    source: &mut Source<'_>,
    files: &mut Files,
    memcgs: &[MemcgConfig],
    actors: &[ActorConfig],
    policy: FilePolicy,
) {
    for (at, file) in files.open.iter_mut().enumerate() {
        let uses = |op: &Op| op.file() == Some(FileId::from(at));
        let users: Vec<_> = actors.iter().filter(|actor| program(actor).iter().any(uses)).collect();
        file.shared = users.len() > 1;
        let inode = &mut files.inodes[file.inode.index()];
        for user in users {
            let memcg = user.task.memcg;
            let payer = *inode.memcg.get_or_insert(memcg);
            if payer != memcg {
                let [payer, memcg] = [payer, memcg].map(|id| &memcgs[id.index()].name);
                let message = format!("tasks of `{payer}` and of `{memcg}` use `{}`", file.name);
                let hint = "the pages of a file belong to one memcg: give each memcg its own file";
                source.problem_with_hint(files.at[at], message, hint);
                return;
            }
        }
    }
    for at in 0..files.open.len() {
        let mine: Vec<&Op> = actors.iter().flat_map(program).collect();
        if let Some((message, hint)) = pooled::objection(files, &mine, policy, at) {
            source.problem_with_hint(files.at[at], message, hint);
        }
    }
    for at in 0..files.open.len() {
        let file = &files.open[at];
        let uses =
            |op: &Op| op.file().is_some_and(|used| files.open[used.index()].inode == file.inode);
        let users = actors.iter().filter(|actor| program(actor).iter().any(uses)).count();
        files.inodes[file.inode.index()].shared = users > 1;
        if users == 0 && source.is_clean() {
            let hint = "an `[[actor]]` may `read`, `fault`, `willneed` or fill a `window` of it";
            let message = format!("no task uses the file `{}`", file.name);
            source.problem_with_hint(files.at[at], message, hint);
        }
    }
}
