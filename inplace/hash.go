// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/internal/stablejson"
)

// EnvValue is an environment variable of a container and its value.
type EnvValue struct {
	// Name is that of the variable.
	Name string `json:"name"`
	// Value is what the container sees; empty if a label or annotation that it refers to is missing.
	Value string `json:"value,omitempty"`
}

// Names of variables that other controllers set from metadata, and that are
// never waited for.
const (
	sidecarSetVersionEnv    = "SIDECARSET_VERSION"
	sidecarSetVersionAltEnv = "SIDECARSET_VERSION_ALT"
)

// ExpectedEnv returns the variables of a container that come from single
// labels and annotations, with the values that the pod's metadata gives them
// now. A key that is absent gives the empty value. The order is that of the
// specification.
func ExpectedEnv(pod *corev1.Pod, c *corev1.Container) []EnvValue {
	var out []EnvValue
	for i := range c.Env {
		name := c.Env[i].Name
		ref, ok := envReference(&c.Env[i])
		if !ok || name == sidecarSetVersionEnv || name == sidecarSetVersionAltEnv {
			continue
		}
		value := pod.Labels[ref.key]
		if ref.in == annotationMap {
			value = pod.Annotations[ref.key]
		}
		out = append(out, EnvValue{Name: name, Value: value})
	}
	return out
}

// EnvHash returns the hash by which the node agent reports the environment
// that a container was started with, as far as it comes from metadata. The
// order of the values plays no part, except among those of the same name. It
// fails for no values that a pod can have.
func EnvHash(env []EnvValue) (uint64, error) {
	var sorted []EnvValue // No variables are encoded as null.
	sorted = append(sorted, env...)
	slices.SortStableFunc(sorted, func(a, b EnvValue) int { return cmp.Compare(a.Name, b.Name) })
	return hashJSON(sorted)
}

// PlainHashes returns the hashes that kubelets give to a container of this
// specification. They are over all of it, as kubelets did first, and over its name and
// image, as they do since Kubernetes 1.31. A kubelet may know other fields
// than this program does, so a hash that is not among them proves nothing.
func PlainHashes(c *corev1.Container) ([]uint64, error) {
	whole, err := hashJSON(c)
	if err != nil {
		return nil, fmt.Errorf("container %s: %w", c.Name, err)
	}
	short, err := hashJSON(map[string]string{"name": c.Name, "image": c.Image})
	if err != nil {
		return nil, fmt.Errorf("container %s: %w", c.Name, err)
	}
	return []uint64{whole, short}, nil
}

// hashJSON returns the 32-bit FNV-1a hash over the JSON of v, written as Go
// prints a slice of bytes: ([]uint8)[123 34 125].
func hashJSON(v any) (uint64, error) {
	data, err := stablejson.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("encode for hashing: %w", err)
	}
	text := make([]byte, 0, 4*len(data)+len("([]uint8)[]"))
	text = append(text, "([]uint8)["...)
	for i, b := range data {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendUint(text, uint64(b), 10)
	}
	text = append(text, ']')
	h := fnv.New32a()
	h.Write(text)
	return uint64(h.Sum32()), nil
}
