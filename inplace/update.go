// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Update is what an in-place update changes in a pod. Calculate makes it from
// two revisions, and it is the same for all pods that go from one to the other.
type Update struct {
	// Revision names the revision that the pod is updated to. It is recorded in
	// the pod; Calculate takes the name of the ControllerRevision. A workload
	// that labels its pods with something else puts that value here.
	Revision string

	// Images holds the new images by container name.
	Images map[string]string

	// RefMetadata holds, by the name of the container whose environment refers
	// to them, the labels and annotations to set. These change together with
	// their container. Only Labels and Annotations are used.
	RefMetadata map[string]metav1.ObjectMeta

	// MetadataPatch is a strategic-merge patch of a Pod with all other changes
	// of labels, annotations and finalizers; nil if there are none. No
	// container restarts for it.
	MetadataPatch []byte

	// EnvFromMetadata says that containers restart because of RefMetadata.
	EnvFromMetadata bool

	// Resources holds the cpu and memory that change, by container name; what is not
	// named stays. Nothing is ever removed. Only with CalculateOptions.Resize.
	Resources map[string]corev1.ResourceRequirements
}

// String lists what changes, one container a line, below the revision. It is for
// people, and of the patch of metadata it names the keys only.
func (u Update) String() string {
	var b strings.Builder
	b.WriteString("update in place")
	if u.Revision != "" {
		b.WriteString(" to revision " + u.Revision)
	}
	c := change{u.Images, u.RefMetadata}
	for _, name := range c.containers() {
		var changes []string
		if image, ok := u.Images[name]; ok {
			changes = append(changes, "image "+image)
		}
		ref := u.RefMetadata[name]
		changes = appendPairs(changes, "annotation", ref.Annotations)
		changes = appendPairs(changes, "label", ref.Labels)
		fmt.Fprintf(&b, "\n  container %q: %s", name, strings.Join(changes, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Resources)) {
		fmt.Fprintf(&b, "\n  container %q: %s", name, resourceWords(u.Resources[name]))
	}
	if metadata := changedMetadata(u.MetadataPatch); metadata != "" {
		b.WriteString("\n  metadata without a restart: " + metadata)
	}
	return b.String()
}

// appendPairs appends keys and their values, sorted.
func appendPairs(list []string, what string, pairs map[string]string) []string {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		list = append(list, what+" "+key+"="+pairs[key])
	}
	return list
}

// Obstacle is one change between two templates that a running pod cannot take,
// so that the pod must be recreated.
type Obstacle struct {
	// Op is what happens at Path, in the words of RFC 6902: "add", "remove" or
	// "replace". Empty if the obstacle is not a change of the template.
	Op string
	// Path is a JSON pointer into the pod template, such as
	// /spec/containers/0/resources/limits/cpu.
	Path string
	// Container names the container that Path leads into, as the old template
	// has it; empty if it leads elsewhere.
	Container string
	// Reason says in words why this cannot be done in place.
	Reason string
}

// String returns the obstacle on one line, for example
//
//	replace /spec/containers/0/env/0/value (container "main"): of a running container only the image can be replaced
func (o Obstacle) String() string {
	if o.Op == "" {
		return o.Reason
	}
	where := o.Op + " " + o.Path
	if o.Container != "" {
		where += " (container \"" + o.Container + "\")"
	}
	return where + ": " + o.Reason
}
