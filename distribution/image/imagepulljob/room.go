// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// How much there may be in a NodeImage, which the API server stores up to 1.5 MB. (IMG-1.13)
const (
	nodeBytes = 1 << 20
	// taskBytes is what a task takes beside its tag and its owners. It has a policy and times, and its state may have a
	// message of 800 bytes.
	taskBytes = 1280
	// ownerBytes is what an owner of a task takes beside its names, and so does a reference to a secret.
	ownerBytes = 160
	// entryBytes is what an image, a label or an annotation takes beside its text.
	entryBytes = 32
	// roomInterval is how often a job looks again for room.
	roomInterval = time.Minute
)

// crowded tells why a node cannot take an image as the job would leave it there; nil: it can. A namespace may have three
// quarters of what others leave: there is always room for another one. (IMG-1.13)
func (p *planner) crowded(n *v1alpha1.NodeImage, image *v1alpha1.ImageSpec) *rollout.Reason {
	own, all := p.sizeOf(p.plan.Image, image)
	for name, there := range n.Spec.Images {
		if name != p.plan.Image {
			mine, bytes := p.sizeOf(name, &there)
			own, all = own+mine, all+bytes
		}
	}
	most := (nodeBytes - (all - own)) * 3 / 4
	if own <= most {
		return nil
	}
	return &rollout.Reason{Rule: ruleNodeImageFull, Limit: int32(most), Observed: int32(own), Message: fmt.Sprintf(
		"the tasks of a node may take %d bytes: namespace %s would have %d, and others leave %d for it", nodeBytes, p.Job.Namespace, own, most)}
}

// sizeOf is about how much an image takes in a NodeImage, in the spec and in the status. It returns all of it, and the part
// that the job's namespace asked for first.
func (p *planner) sizeOf(name string, image *v1alpha1.ImageSpec) (own, all int) {
	all = entryBytes + len(name)
	for _, ref := range image.PullSecrets {
		all += ownerBytes + len(ref.Namespace) + len(ref.Name) + len(ref.Mode)
	}
	if c := image.SandboxConfig; c != nil {
		for _, texts := range []map[string]string{c.Labels, c.Annotations} {
			for key, value := range texts {
				all += entryBytes + len(key) + len(value)
			}
		}
	}
	for i := range image.Tags {
		task := &image.Tags[i]
		bytes := taskBytes + 2*len(task.Tag)
		for _, owner := range task.OwnerReferences {
			bytes += ownerBytes + len(owner.Namespace) + len(owner.Name)
		}
		if i == 0 {
			bytes, all = bytes+all, 0 // the image is there for a task
		}
		if all += bytes; len(task.OwnerReferences) > 0 && task.OwnerReferences[0].Namespace == p.Job.Namespace {
			own += bytes
		}
	}
	return own, all
}
