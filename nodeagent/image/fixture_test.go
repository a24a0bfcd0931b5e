// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// now is the time of all snapshots.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// change changes the NodeImage of a snapshot.
type change func(*v1alpha1.NodeImage)

// newNodeImage returns the NodeImage of node-1.
func newNodeImage(changes ...change) *v1alpha1.NodeImage {
	n := &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "uid"}}
	for _, c := range changes {
		c(n)
	}
	return n
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// wants gives a task, of version 1 and created a minute before now. Words change it.
func wants(image, tag string, changes ...string) change {
	return func(n *v1alpha1.NodeImage) {
		spec := patches.Changed(words, &v1alpha1.ImageTagSpec{Tag: tag}, append([]string{"task"}, changes...)...)
		if n.Spec.Images == nil {
			n.Spec.Images = map[string]v1alpha1.ImageSpec{}
		}
		of := n.Spec.Images[image]
		of.Tags = append(of.Tags, *spec)
		n.Spec.Images[image] = of
	}
}

// says has the status report on version 1 of a task, in words.
func says(image, tag string, changes ...string) change {
	return func(n *v1alpha1.NodeImage) {
		if n.Status.ImageStatuses == nil {
			n.Status.ImageStatuses = map[string]v1alpha1.ImageStatus{}
		}
		of := n.Status.ImageStatuses[image]
		of.Tags = append(of.Tags, *patches.Changed(words, &v1alpha1.ImageTagStatus{Tag: tag, Version: 1}, changes...))
		n.Status.ImageStatuses[image] = of
	}
}

// shown shows a status, one line a tag.
func shown(status *v1alpha1.NodeImageStatus) (lines []string) {
	if status == nil {
		return nil
	}
	lines = append(lines, fmt.Sprintf("desired %d succeeded %d failed %d pulling %d", status.Desired, status.Succeeded, status.Failed, status.Pulling))
	for _, name := range slices.Sorted(maps.Keys(status.ImageStatuses)) {
		for _, t := range status.ImageStatuses[name].Tags {
			line := fmt.Sprintf("%s:%s v%d %s %d%%", name, t.Tag, t.Version, t.Phase, t.Progress)
			if t.Phase == v1alpha1.ImagePhasePulling && t.StartTime == nil {
				line += ", and IMG-2.5: it has no start"
			}
			if t.ImageID != "" {
				line += " " + t.ImageID
			}
			if t.Message != "" {
				line += " (" + t.Message + ")"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
