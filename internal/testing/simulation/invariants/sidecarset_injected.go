// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SidecarSetInjected judges what a webhook has made of a new pod, by what its caches held: whole revisions, and records that
// say which. (SCI-1 to SCI-3, SCI-12 to SCI-14)
func (p *Past) SidecarSetInjected(cached *State, before, after *corev1.Pod) []Violation {
	var v violations
	set, ok := cached.Workload.(*v1alpha1.SidecarSet)
	if !ok {
		if !equality.Semantic.DeepEqual(before, after) {
			v.add(Ownership, "pod %s is changed, and no SidecarSet is known", before.Name)
		}
		return v
	}
	j := p.newSidecarSetJudge(&v, &Write{Known: cached, Truth: cached, Observed: cached}, set)
	inNamespace := after.DeepCopy()
	inNamespace.Namespace = "default" // that of the request, which pods need not name
	if j.broken || set.Spec.InjectionStrategy.Paused || !j.selects(inNamespace, cached) {
		if !equality.Semantic.DeepEqual(before, after) {
			v.add(Ownership, "pod %s is changed, and the SidecarSet that is known does not inject into it", before.Name)
		}
		return v
	}
	revision := set.Status.LatestRevision
	if set.Spec.InjectionStrategy.Revision != nil {
		wanted := j.injects(cached)
		if wanted == nil {
			v.add(History, "pod %s is allowed, and the revision that it is to get is not known", before.Name)
			return v
		}
		var data struct{ Spec *revised }
		if json.Unmarshal(wanted.Data.Raw, &data) != nil || data.Spec == nil {
			return v // never: the controller has made it
		}
		revision, j.set.Spec.Containers, j.set.Spec.InitContainers = wanted.Name, data.Spec.Containers, data.Spec.InitContainers
		j.contract.Default(j.set)
		var err error
		if j.hash, _, err = j.contract.Hashes(j.set); err != nil {
			return v // never: the controller has made it
		}
	}
	j.checkInjected(before, after, revision)
	return v
}

// injects is the revision that the injectionStrategy names; nil if none is known. What a SidecarSet of the same name has left behind
// can be named, too, and is the last of those with a custom version. (SCI-3)
func (j *sidecarSetJudge) injects(s *State) (found *appsv1.ControllerRevision) {
	strategy := j.set.Spec.InjectionStrategy.Revision
	if own := j.wanted(s); own != nil {
		return own
	}
	for _, r := range s.Revisions {
		switch {
		case r.Labels[v1alpha1.SidecarSetNameLabel] != j.set.Name:
		case strategy.RevisionName != nil:
			if r.Name == *strategy.RevisionName {
				return r
			}
		case strategy.CustomVersion != nil && r.Labels[v1alpha1.SidecarSetCustomVersionLabel] == *strategy.CustomVersion && (found == nil || r.Revision > found.Revision):
			found = r
		}
	}
	return found
}

// checkInjected: a pod has the containers of one revision, whose hash and name its record has, and its own as they were.
func (j *sidecarSetJudge) checkInjected(before, after *corev1.Pod, revision string) {
	want := map[string]string{}
	for _, c := range before.Spec.Containers {
		want[c.Name] = c.Image
	}
	for i := range j.set.Spec.Containers {
		c := &j.set.Spec.Containers[i]
		names := namesOf(c)
		if want[names[0]] = c.Image; hot(c) {
			want[names[1]] = c.UpgradeStrategy.HotUpgradeEmptyImage
		}
	}
	has := map[string]string{}
	for _, c := range after.Spec.Containers {
		has[c.Name] = c.Image
	}
	if !maps.Equal(want, has) {
		j.add(InPlace, "pod %s is created with the images %v, want %v", before.Name, has, want)
	}
	if !maps.Equal(before.Labels, after.Labels) {
		j.add(InPlace, "pod %s is created with the labels %v, want %v", before.Name, after.Labels, before.Labels)
	}
	record := j.record(after, v1alpha1.SidecarSetHashAnnotation)
	if len(j.set.Spec.Containers) > 0 && (!j.listed(after) || record.SidecarSetHash != j.hash || record.SidecarSetControllerRevision != revision) {
		j.add(History, "pod %s is created with the record %+v, want hash %s of revision %q", before.Name, record, j.hash, revision)
	}
}
