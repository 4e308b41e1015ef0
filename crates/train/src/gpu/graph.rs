//! A step as a CUDA graph, built once and then updated: launching some twenty kernels one by one takes longer
//! than a small batch computes.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{self, CUcontext, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::address::Address;
use super::driver::{Kernel, Param};

type Result<T> = std::result::Result<T, DriverError>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    Clear(Address, usize),
    Launch(Kernel, [u32; 3], u32, Vec<Param>),
}

pub(super) fn pointers(params: &[Param]) -> Vec<*mut c_void> {
    params.iter().map(|param| param.words.as_ptr().cast_mut().cast()).collect()
}

pub(super) struct Graph {
    operations: Vec<Operation>,
    nodes: Vec<CUgraphNode>,
    /// Template graph, which the node handles belong to.
    graph: CUgraph,
    ready: CUgraphExec,
}

impl Graph {
    pub(super) fn new(
        operations: Vec<Operation>,
        kernels: &[CUfunction],
        context: CUcontext,
    ) -> Result<Graph> {
        let (mut graph, ready) = (null_mut(), null_mut());
        // SAFETY: the driver writes the graph's handle.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result()?;
        // Dropped on errors from here on.
        let mut made = Graph { nodes: Vec::with_capacity(operations.len()), operations, graph, ready };
        for operations in &made.operations {
            let before = made.nodes.last().map_or(std::ptr::null(), |node| node as *const CUgraphNode);
            let (mut node, count) = (null_mut(), made.nodes.len().min(1));
            match operations {
                Operation::Clear(at, bytes) => {
                    let (size, element) = if bytes.is_multiple_of(4) { (bytes / 4, 4) } else { (*bytes, 1) };
                    let clear = sys::CUDA_MEMSET_NODE_PARAMS {
                        dst: at.0,
                        pitch: 0,
                        value: 0,
                        elementSize: element,
                        width: size,
                        height: 1,
                    };
                    // SAFETY: callers name bytes of what was allocated; the node before is of this graph.
                    unsafe { sys::cuGraphAddMemsetNode(&mut node, graph, before, count, &clear, context) }
                }
                Operation::Launch(..) => with_launch(operations, kernels, |launch| {
                    // SAFETY: the parameters are the kernel's; the driver copies them before it returns.
                    unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph, before, count, launch) }
                }),
            }
            .result()?;
            made.nodes.push(node);
        }
        // SAFETY: the graph was made above.
        unsafe { sys::cuGraphInstantiateWithFlags(&mut made.ready, graph, 0) }.result()?;
        Ok(made)
    }

    pub(super) fn fits(&self, operations: &[Operation]) -> bool {
        self.operations.len() == operations.len()
            && self.operations.iter().zip(operations).all(|pair| match pair {
                (Operation::Launch(own, ..), Operation::Launch(other, ..)) => own == other,
                (own, other) => own == other,
            })
    }

    pub(super) fn set(&mut self, operations: &[Operation], kernels: &[CUfunction]) -> Result<()> {
        for ((node, own), new) in self.nodes.iter().zip(&mut self.operations).zip(operations) {
            if own != new {
                // SAFETY: the node is of the graph that this one was made of, and runs the same kernel.
                let set =
                    |launch: &_| unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.ready, *node, launch) };
                with_launch(new, kernels, set).result()?;
                own.clone_from(new);
            }
        }
        Ok(())
    }

    pub(super) fn launch(&self, queue: CUstream) -> Result<()> {
        // SAFETY: both are alive.
        unsafe { sys::cuGraphLaunch(self.ready, queue) }.result()
    }
}

fn with_launch(
    operations: &Operation,
    kernels: &[CUfunction],
    act: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> sys::CUresult,
) -> sys::CUresult {
    let Operation::Launch(kernel, grid, block, params) = operations else {
        return sys::CUresult::CUDA_SUCCESS;
    };
    let mut params = pointers(params);
    act(&sys::CUDA_KERNEL_NODE_PARAMS {
        func: kernels[*kernel as usize],
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: grid[2],
        blockDimX: *block,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: params.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: both were made here and are used nowhere else. Errors in a drop are ignored.
        unsafe {
            if !self.ready.is_null() {
                let _ = sys::cuGraphExecDestroy(self.ready);
            }
            let _ = sys::cuGraphDestroy(self.graph);
        }
    }
}
