// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// planRevisions finds the revision of the present spec, or makes it. It returns false, and
// reports why, if there is none. (SCS-R1 to SCS-R4)
func (p *planner) planRevisions() bool {
	wanted, err := p.newRevision()
	if err != nil {
		p.UpdateProblem(err)
		return false
	}
	next := revision.NextOf(p.History, wanted, p.holdsSpec)
	c := &p.plan.Revisions
	c.Current, c.Update = next.Revision, next.Revision
	switch next.Action {
	case revision.Create:
		c.Create = next.Revision
	case revision.Raise:
		c.Raise, c.RaiseTo = next.Revision, next.Revision.Revision
	}
	if version := conversion.CustomVersion(p.Set); c.Create == nil && version != "" && c.Update.Labels[v1alpha1.SidecarSetCustomVersionLabel] != version {
		p.plan.CustomVersion = version
	}
	return true
}

// newRevision makes the revision of the present spec. (SCS-R1, SCS-R2)
func (p *planner) newRevision() (*appsv1.ControllerRevision, error) {
	var err error
	if p.content, err = injection.RevisionData(p.set); err != nil {
		return nil, err
	}
	data := p.content
	if p.Features.ReplacePatch {
		data = slices.Concat(replaces, bytes.TrimPrefix(data, specBegins))
	}
	hash := revision.Hash(data, p.Set.Status.CollisionCount)
	labels := with(p.Set.Labels, revision.HashLabel, hash, v1alpha1.SidecarSetNameLabel, p.Set.Name)
	if version := conversion.CustomVersion(p.Set); version != "" {
		labels[v1alpha1.SidecarSetCustomVersionLabel] = version
	}
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       p.RevisionNamespace,
			Name:            revision.Name(p.Set.Name, hash),
			Labels:          labels,
			Annotations:     with(p.Set.Annotations, v1alpha1.SidecarSetHashAnnotation, p.hashes.Containers, v1alpha1.SidecarSetHashWithoutImageAnnotation, p.hashes.WithoutImage),
			OwnerReferences: []metav1.OwnerReference{p.Owner()},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: revision.NextNumber(p.History),
	}
	return r, nil
}

// with is a copy of a map with keys and values beside its own.
func with(have map[string]string, pairs ...string) map[string]string {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// What data of revisions begin with, and what OpenKruise 1.9 writes there. (SCS-32)
var specBegins, replaces = []byte(`{"spec":{`), []byte(`{"spec":{"$patch":"replace",`)

// holdsSpec tells whether a revision holds the present spec, in either form. (SCS-R3, SCS-32)
func (p *planner) holdsSpec(r *appsv1.ControllerRevision) bool {
	if bytes.Equal(r.Data.Raw, p.content) {
		return true
	}
	held := &v1alpha1.SidecarSet{}
	if err := injection.Read(held, r); err != nil {
		p.UpdateProblem(fmt.Errorf("%w; delete it", err))
		return false
	}
	p.Injection.Default(held)
	data, err := injection.RevisionData(held)
	return err == nil && bytes.Equal(data, p.content)
}

// planHistory deletes the oldest revisions beyond the limit. It keeps those that a pod or
// the injectionStrategy refers to, and that of the spec. (SCS-R5)
func (p *planner) planHistory() {
	surplus := len(p.History) - int(max(1, ptr.Deref(p.set.Spec.RevisionHistoryLimit, revision.DefaultHistoryLimit)))
	if p.plan.Revisions.Create != nil {
		surplus++
	}
	if surplus <= 0 {
		return
	}
	used := map[string]bool{p.plan.Revisions.Update.Name: true}
	if wanted, err := injection.Wanted(p.set, p.History); err == nil {
		used[wanted.Name] = true
	}
	p.markUsed(used)
	for _, r := range p.History {
		if surplus > 0 && !used[r.Name] {
			p.plan.Revisions.Delete = append(p.plan.Revisions.Delete, r)
			surplus--
		}
	}
}

// markUsed marks the revisions that the records of pods name. Records are not decoded:
// what has the name of a revision in it is a record of that.
func (p *planner) markUsed(used map[string]bool) {
	for _, r := range p.History {
		if used[r.Name] {
			continue
		}
		quoted := `"` + r.Name + `"`
		used[r.Name] = slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
			return pod != nil && podstate.Active(pod) && strings.Contains(pod.Annotations[v1alpha1.SidecarSetHashAnnotation], quoted)
		})
	}
}

// useHistory takes those of the revisions that the SidecarSet controls, the oldest first.
func (p *planner) useHistory() {
	p.RevisionNamespace = cmp.Or(p.RevisionNamespace, DefaultRevisionNamespace)
	foreign := func(r *appsv1.ControllerRevision) bool {
		return r == nil || r.Namespace != p.RevisionNamespace || !metav1.IsControlledBy(r, p.Set)
	}
	p.History = slices.DeleteFunc(slices.Clone(p.Revisions), foreign)
	revision.Sort(p.History)
}
