// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podstate"
)

// Verdict says what a change of a pod template does to a running pod.
type Verdict struct {
	// Update is what changes inside the pod; nil if the pod must be
	// recreated. Its Revision is empty.
	Update *Update
	// Obstacles are the reasons why the pod must be recreated; empty if it
	// need not be.
	Obstacles []Obstacle
	// Restarts lists the containers that restart, in the order of the template.
	Restarts []Restart
	// Resizes lists the containers that get other cpu or memory, in the order of the
	// template. Those that restart for it are in Restarts too.
	Resizes []Resize
}

// Restart is a container that restarts in a pod that lives on.
type Restart struct {
	// Container is the name of the container.
	Container string
	// FromImage and ToImage differ if the container gets a new image.
	FromImage, ToImage string
	// EnvFrom lists the changed labels and annotations that its environment
	// refers to, as metadata.labels['key'], sorted.
	EnvFrom []string
	// ForResources says that its resize policy asks for a restart when cpu or memory
	// change as they do.
	ForResources bool
}

// Resize is a container that gets other cpu or memory in a pod that lives on.
type Resize struct {
	// Container is the name of the container.
	Container string
	// From and To hold the quantities that change. From lacks those that are new.
	From, To corev1.ResourceRequirements
	// Restarts says that the container restarts for it.
	Restarts bool
}

// Compare tells what a running pod of one template has to go through to become
// one of the other. That is nothing, new metadata, restarts of some containers, or to
// be recreated. It is Calculate for people, who have templates and no revisions.
//
// It fails on a nil template.
func Compare(from, to *corev1.PodTemplateSpec, o CalculateOptions) (Verdict, error) {
	before, err := stored(from)
	if err != nil {
		return Verdict{}, fmt.Errorf("old template: %w", err)
	}
	after, err := stored(to)
	if err != nil {
		return Verdict{}, fmt.Errorf("new template: %w", err)
	}
	u, obstacles, err := calculate(before, after, o)
	if err != nil || u == nil {
		return Verdict{Obstacles: obstacles}, err
	}
	return Verdict{Update: u, Restarts: restarts(before, u), Resizes: resizes(before, u)}, nil
}

// stored returns the template as a revision gives it back.
func stored(t *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	data, err := revision.Data(t)
	if err != nil {
		return nil, err
	}
	return revision.Template(data)
}

func restarts(from *corev1.PodTemplateSpec, u *Update) []Restart {
	var out []Restart
	for i := range from.Spec.Containers {
		c := &from.Spec.Containers[i]
		resized := restartsFor(c, u.Resources[c.Name])
		if !(change{u.Images, u.RefMetadata}).has(c.Name) && !resized {
			continue
		}
		r := Restart{Container: c.Name, FromImage: c.Image, ToImage: c.Image, ForResources: resized}
		if image, ok := u.Images[c.Name]; ok {
			r.ToImage = image
		}
		ref := u.RefMetadata[c.Name]
		for _, key := range slices.Sorted(maps.Keys(ref.Annotations)) {
			r.EnvFrom = append(r.EnvFrom, "metadata.annotations['"+key+"']")
		}
		for _, key := range slices.Sorted(maps.Keys(ref.Labels)) {
			r.EnvFrom = append(r.EnvFrom, "metadata.labels['"+key+"']")
		}
		out = append(out, r)
	}
	return out
}

func resizes(from *corev1.PodTemplateSpec, u *Update) []Resize {
	var out []Resize
	for i := range from.Spec.Containers {
		c := &from.Spec.Containers[i]
		to, changes := u.Resources[c.Name]
		if !changes {
			continue
		}
		have, r := podstate.Effective(c.Resources), Resize{Container: c.Name, To: *to.DeepCopy(), Restarts: restartsFor(c, to)}
		for name := range to.Limits {
			if was, had := have.Limits[name]; had {
				podstate.SetQuantity(&r.From.Limits, name, was)
			}
		}
		for name := range to.Requests {
			if was, had := have.Requests[name]; had {
				podstate.SetQuantity(&r.From.Requests, name, was)
			}
		}
		out = append(out, r)
	}
	return out
}

// InPlace tells whether the pod need not be recreated.
func (v Verdict) InPlace() bool { return v.Update != nil }

// String answers in a few lines, without a line break at the end.
func (v Verdict) String() string {
	var b strings.Builder
	if v.Update == nil {
		b.WriteString("the pod is recreated:")
		for _, o := range v.Obstacles {
			b.WriteString("\n  " + o.String())
		}
		return b.String()
	}
	metadata := changedMetadata(v.Update.MetadataPatch)
	switch {
	case len(v.Restarts) > 0:
		b.WriteString("the pod stays, containers restart:")
	case metadata != "", len(v.Resizes) > 0:
		b.WriteString("the pod stays, no container restarts:")
	default:
		b.WriteString("nothing changes in the pod")
	}
	for _, r := range v.Restarts {
		b.WriteString("\n  " + r.String())
	}
	for _, r := range v.Resizes {
		b.WriteString("\n  " + r.String())
	}
	if metadata != "" {
		b.WriteString("\n  metadata changes without a restart: " + metadata)
	}
	return b.String()
}

// String returns the container and why it restarts, on one line.
func (r Restart) String() string {
	var why []string
	if r.FromImage != r.ToImage {
		why = append(why, "image "+r.FromImage+" becomes "+r.ToImage)
	}
	if len(r.EnvFrom) > 0 {
		why = append(why, "its environment refers to "+strings.Join(r.EnvFrom, ", "))
	}
	if r.ForResources {
		why = append(why, "its resizePolicy asks for a restart")
	}
	return fmt.Sprintf("container %q: %s", r.Container, strings.Join(why, "; "))
}

// String returns the container and what it gets, on one line.
func (r Resize) String() string {
	var changes []string
	for _, list := range []struct {
		field    string
		from, to corev1.ResourceList
	}{{"limits", r.From.Limits, r.To.Limits}, {"requests", r.From.Requests, r.To.Requests}} {
		for _, name := range podstate.ComputeResources {
			is, set := list.to[name]
			if !set {
				continue
			}
			what := "is set to "
			if was, had := list.from[name]; had {
				what = was.String() + " becomes "
			}
			changes = append(changes, list.field+"."+string(name)+" "+what+is.String())
		}
	}
	how := "without a restart"
	if r.Restarts {
		how = "with a restart"
	}
	return fmt.Sprintf("container %q: %s, %s", r.Container, strings.Join(changes, ", "), how)
}

// changedMetadata lists what a metadata patch changes, in words.
func changedMetadata(patch []byte) string {
	var p struct {
		Metadata map[string]any `json:"metadata"`
	}
	if json.Unmarshal(patch, &p) != nil {
		return "" // Calculate makes no patch that is not JSON.
	}
	var out []string
	for _, field := range []struct{ name, one string }{{"labels", "label"}, {"annotations", "annotation"}} {
		keys, _ := p.Metadata[field.name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, field.one+" "+key)
		}
	}
	for field := range p.Metadata {
		if strings.HasSuffix(field, "finalizers") {
			return strings.Join(append(out, "finalizers"), ", ")
		}
	}
	return strings.Join(out, ", ")
}
