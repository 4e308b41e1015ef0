#!/usr/bin/env python3
"""Compiles a folder of GPU kernels to PTX.

    pip install --target /tmp/nvrtc nvidia-cuda-nvrtc-cu12==12.4.127
    NVRTC=/tmp/nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 python3 tools/ptx.py FOLDER [--check]

FOLDER holds *.cu and *.cuh; all.cu includes the others. NVRTC needs neither a GPU nor a driver. The output is
kernels.ptx in the folder; --check only compares, with exit code 1 if the file is not what the sources give. A later NVRTC
writes PTX of a version that a driver of CUDA 12.4 refuses.

The PTX is for compute_70 alone: no kernel uses what later devices added, and the driver compiles PTX for the device that
it finds, so a copy for each generation would be the same code again.
"""

import ctypes
import hashlib
import os
import pathlib
import sys

# Products and sums are rounded one by one, as on the CPU.
OPTIONS = ["--gpu-architecture=compute_70", "--std=c++17", "--fmad=false"]


def sources(folder):
    paths = [path for path in folder.iterdir() if path.suffix in (".cu", ".cuh")]
    return {path.name: path.read_bytes() for path in sorted(paths, key=lambda path: path.name)}


def digest(files):
    """SHA-256 of the files' names and contents, in the order of their names."""
    total = hashlib.sha256()
    for name, text in files.items():
        total.update(name.encode() + b"\0" + text + b"\0")
    return total.hexdigest()


def library():
    chosen = os.environ.get("NVRTC")
    try:
        return ctypes.CDLL(chosen or "libnvrtc.so.12")
    except OSError as error:
        sys.exit(f"{error}\nNVRTC names the library, which pip's nvidia-cuda-nvrtc-cu12==12.4.127 has; see --help")


def compile_kernels(files):
    nvrtc = library()
    program = ctypes.c_void_p()
    names = [name for name in files if name != "all.cu"]
    array = ctypes.c_char_p * len(names)

    def call(name, *args):
        code = getattr(nvrtc, name)(*args)
        if code != 0:
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"{name} failed with {code}\n{log.value.decode()}")

    headers = array(*(files[name] for name in names))
    call(
        "nvrtcCreateProgram",
        ctypes.byref(program),
        files["all.cu"],
        b"all.cu",
        len(names),
        headers,
        array(*(name.encode() for name in names)),
    )
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    call("nvrtcCompileProgram", program, len(OPTIONS), options)
    size = ctypes.c_size_t()
    call("nvrtcGetPTXSize", program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call("nvrtcGetPTX", program, ptx)
    return ptx.value.decode()


def main():
    check = "--check" in sys.argv[1:]
    folders = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(folders) != 1 or not pathlib.Path(folders[0], "all.cu").is_file():
        sys.exit(__doc__)
    folder = pathlib.Path(folders[0])
    files = sources(folder)
    head = f"// Made by tools/ptx.py ({' '.join(OPTIONS)}).\n// Sources: {digest(files)}\n"
    text = head + compile_kernels(files)
    path = folder / "kernels.ptx"
    if not check:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} is not what the sources give; run tools/ptx.py")


if __name__ == "__main__":
    main()
