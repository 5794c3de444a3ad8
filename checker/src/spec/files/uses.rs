//! What tasks do with the files of a spec: whose memory their pages are, and who shares what.

use super::Files;
use super::pooled::{self, Around};
use super::ring;
use crate::spec::problem::Source;
use mm_model::ids::{CpuId, FileId, InodeId, MemcgId};
use mm_model::scenario::{
    ActorConfig, ActorKind, FilePolicy, Io, MemcgConfig, Op, Store, TaskContext, TaskFlags,
};
use mm_model::units::Pages;

/// From this limit on locked pages of older accesses may not have room in bits.
const OLD_MOST: Pages = Pages(60);

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
    around: Around,
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
        let ring = ring::objection(files, &mine, around.policy, at);
        let pooled = || pooled::objection(files, &mine, around, at);
        if let Some((message, hint)) = ring.or_else(pooled) {
            source.problem_with_hint(files.at[at], message, hint);
        }
    }
    in_order(source, files, memcgs, around.policy);
    stores(files, memcgs, around.policy);
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

/// Refuses large folios that go in the order of their memcg beside pages of another: a pass takes
/// one memcg after the other, and how far a folio goes beyond its goal depends on who comes last.
fn in_order(source: &mut Source<'_>, files: &Files, memcgs: &[MemcgConfig], policy: FilePolicy) {
    let large = files.inodes.iter().position(|inode| inode.min_order.max(inode.max_order) > 0);
    let Some(at) = large.filter(|_| policy.evicts.in_order()) else { return };
    let pays = |id: MemcgId| files.inodes.iter().any(|inode| inode.memcg == Some(id));
    let has_pages = |at: &usize| memcgs[*at].lru > Pages::ZERO || pays(MemcgId::from(*at));
    if (0..memcgs.len()).filter(has_pages).count() > 1 {
        let file = files.open.iter().position(|file| file.inode.index() == at).unwrap_or_default();
        let message = format!(
            "large folios of `{}` go in order, and so do pages of another memcg",
            files.open[file].name
        );
        let hint = "`evicts = \"any\"` has every order in which a pass can visit them";
        source.problem_with_hint(files.at[file], message, hint);
    }
}

/// Keeps pooled files as trees where reads of more older accesses can be under way than bits are
/// left for.
fn stores(files: &mut Files, memcgs: &[MemcgConfig], policy: FilePolicy) {
    if matches!(policy.io, Io::AtOnce | Io::File) {
        return;
    }
    for inode in files.inodes.iter_mut().filter(|inode| inode.is_pooled()) {
        let lineage = std::iter::successors(inode.memcg, |memcg| memcgs[memcg.index()].parent);
        let most = lineage.map(|memcg| memcgs[memcg.index()].max).min();
        if most.is_none_or(|most| most >= OLD_MOST) {
            inode.store = Store::Tree;
        }
    }
}
