// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Image says what an image is made of. The zero value is busybox with all its commands, and a process that waits and ends at
// once when it is asked to. Two images that differ in anything have different digests, two equal ones the same.
type Image struct {
	// Programs lists the busybox commands in the image, as files in /bin. nil means all of them, "sh" and "env" among them;
	// an empty list means none.
	Programs []string
	// Entrypoint and Cmd are what a container runs that says nothing else. Without both, it waits: with a shell if there
	// is one, and else with /bin/sleep.
	Entrypoint, Cmd []string
	// Env holds NAME=VALUE. A PATH is set in any case.
	Env []string
	// User is the name or number of the user that the process runs as. "" means root.
	User string
	// Labels are the image's own.
	Labels map[string]string
	// Files maps paths to what is in them.
	Files map[string]string
	// Executables maps paths to the files of this machine that stand there, as programs.
	Executables map[string]string
}

// Pause is the image of the process that holds a pod's namespaces.
var Pause = Image{Programs: []string{"sleep"}, Entrypoint: []string{"/bin/sleep", "infinity"}}

// waiting is a process that ends when asked to, which the first process of a container does not by itself.
var waiting = []string{"/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"}

// Busybox returns the path of a statically linked busybox on this machine.
func Busybox() (string, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return "", err
	}
	file, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return "", fmt.Errorf("%s is linked dynamically: want a static one", path)
	}
	return path, nil
}

// content is a finished image: its blobs and its manifest, by digest.
type content struct {
	blobs    map[digest.Digest][]byte
	manifest digest.Digest
}

// build makes the image.
func (i Image) build() (*content, error) {
	layer, err := i.layer()
	if err != nil {
		return nil, err
	}
	c := &content{blobs: map[digest.Digest][]byte{}}
	config, err := json.Marshal(v1.Image{
		Platform: v1.Platform{Architecture: runtime.GOARCH, OS: "linux"},
		Config:   i.config(),
		RootFS:   v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer)}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest,
		Config:    c.add(v1.MediaTypeImageConfig, config),
		Layers:    []v1.Descriptor{c.add(v1.MediaTypeImageLayer, layer)},
	})
	if err != nil {
		return nil, err
	}
	c.manifest = c.add(v1.MediaTypeImageManifest, manifest).Digest
	return c, nil
}

func (c *content) add(mediaType string, data []byte) v1.Descriptor {
	d := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	c.blobs[d.Digest] = data
	return d
}

func (i Image) config() v1.ImageConfig {
	config := v1.ImageConfig{
		User: i.User, Entrypoint: i.Entrypoint, Cmd: i.Cmd, Labels: i.Labels,
		Env: append([]string{"PATH=/bin"}, i.Env...),
	}
	if len(i.Entrypoint) == 0 && len(i.Cmd) == 0 {
		config.Cmd = waiting
		if i.Programs != nil && !slices.Contains(i.Programs, "sh") {
			config.Cmd = []string{"/bin/sleep", "infinity"}
		}
	}
	return config
}

// layer returns the image's files as a tar archive: one program under many names, and what else is given.
func (i Image) layer() ([]byte, error) {
	binary, programs, err := i.programs()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	var failures []error
	write := func(header tar.Header, data []byte) {
		header.Size = int64(len(data))
		if err := archive.WriteHeader(&header); err != nil {
			failures = append(failures, err)
			return
		}
		_, err := archive.Write(data)
		failures = append(failures, err)
	}
	for _, dir := range []string{"bin/", "etc/", "tmp/"} {
		mode := int64(0o755)
		if dir == "tmp/" {
			mode = 0o1777
		}
		write(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}, nil)
	}
	write(tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0::/:\nnobody:x:65534:65534::/:\n"))
	for n, name := range programs {
		if n == 0 {
			write(tar.Header{Name: "bin/" + name, Mode: 0o755}, binary)
			continue
		}
		write(tar.Header{Typeflag: tar.TypeLink, Name: "bin/" + name, Linkname: "bin/" + programs[0], Mode: 0o755}, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(i.Files)) {
		write(tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o644}, []byte(i.Files[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Executables)) {
		program, err := os.ReadFile(i.Executables[name])
		if err != nil {
			return nil, err
		}
		write(tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o755}, program)
	}
	failures = append(failures, archive.Close())
	return out.Bytes(), errors.Join(failures...)
}

// programs returns busybox and the names under which the image has it.
func (i Image) programs() (binary []byte, names []string, err error) {
	if i.Programs != nil && len(i.Programs) == 0 {
		return nil, nil, nil
	}
	path, err := Busybox()
	if err != nil {
		return nil, nil, fmt.Errorf("busybox for the image: %w", err)
	}
	if binary, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	if names = i.Programs; names == nil {
		list, err := exec.Command(path, "--list").Output()
		if err != nil {
			return nil, nil, fmt.Errorf("the commands of %s: %w", path, err)
		}
		names = append([]string{"busybox"}, slices.DeleteFunc(strings.Fields(string(list)), func(name string) bool { return name == "busybox" })...)
	}
	return binary, names, nil
}
