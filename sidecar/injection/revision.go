// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// revised is what a revision holds of a SidecarSet, sorted by key. (SCI-17)
type revised struct {
	Containers       []v1alpha1.SidecarContainer           `json:"containers"`
	ImagePullSecrets []v1alpha1.SidecarSetPullSecret       `json:"imagePullSecrets"`
	InitContainers   []v1alpha1.SidecarContainer           `json:"initContainers"`
	PatchPodMetadata []v1alpha1.SidecarSetPatchPodMetadata `json:"patchPodMetadata"`
	Volumes          []corev1.Volume                       `json:"volumes"`
}

type revisionData struct {
	Spec *revised `json:"spec"`
}

// RevisionData returns the data of a revision of a SidecarSet, which should have its
// defaults. The same spec always gives the same bytes. (SCI-17)
func RevisionData(set *v1alpha1.SidecarSet) ([]byte, error) {
	if set == nil {
		return nil, errNoSet
	}
	s := &set.Spec
	data, err := revision.Encode(revisionData{&revised{s.Containers, s.ImagePullSecrets, s.InitContainers, s.PatchPodMetadata, s.Volumes}})
	if err != nil {
		return nil, fmt.Errorf("revision of SidecarSet %s: %w", set.Name, err)
	}
	var tree any // for the keys to be sorted at every level
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("revision of SidecarSet %s: %w", set.Name, err)
	}
	return revision.Encode(tree)
}

// Restore gives a SidecarSet what the revision holds that its injectionStrategy names,
// and returns the name of that revision. That there is none, or that it cannot be read, is
// an error. (SCI-3, SCI-17)
func Restore(set *v1alpha1.SidecarSet, revisions []*appsv1.ControllerRevision) (name string, err error) {
	found, err := Wanted(set, revisions)
	if err != nil {
		return "", err
	}
	return found.Name, Read(set, found)
}

// Read gives a SidecarSet what a revision holds. The error says that it cannot be read.
// (SCI-17)
func Read(set *v1alpha1.SidecarSet, found *appsv1.ControllerRevision) error {
	var data revisionData
	if err := json.Unmarshal(found.Data.Raw, &data); err != nil {
		return fmt.Errorf("revision %s cannot be read: %w", found.Name, err)
	}
	if data.Spec == nil {
		return fmt.Errorf("revision %s cannot be read: it has no spec", found.Name)
	}
	s := &set.Spec
	s.Containers, s.InitContainers, s.Volumes = data.Spec.Containers, data.Spec.InitContainers, data.Spec.Volumes
	s.ImagePullSecrets, s.PatchPodMetadata = data.Spec.ImagePullSecrets, data.Spec.PatchPodMetadata
	return nil
}

// isNewer tells whether a revision of a SidecarSet is newer than another one. Those that it controls are newer than those that a
// SidecarSet of the same name has left behind. (SCI-3)
func isNewer(set *v1alpha1.SidecarSet, r, than *appsv1.ControllerRevision) bool {
	if own := metav1.IsControlledBy(r, set); own != metav1.IsControlledBy(than, set) {
		return own
	}
	return r.Revision > than.Revision
}

// Wanted finds the revision that the injectionStrategy names. That there is none is an
// error. (SCI-3)
func Wanted(set *v1alpha1.SidecarSet, revisions []*appsv1.ControllerRevision) (found *appsv1.ControllerRevision, err error) {
	strategy := set.Spec.InjectionStrategy.Revision
	if strategy == nil || strategy.RevisionName == nil && strategy.CustomVersion == nil {
		return nil, errors.New("no revision is named; give revisionName or customVersion")
	}
	for _, r := range revisions {
		switch {
		case r == nil || r.Labels[v1alpha1.SidecarSetNameLabel] != set.Name:
		case strategy.RevisionName != nil:
			if r.Name == *strategy.RevisionName {
				return r, nil
			}
		case r.Labels[v1alpha1.SidecarSetCustomVersionLabel] == *strategy.CustomVersion && (found == nil || isNewer(set, r, found)):
			found = r
		}
	}
	switch {
	case found != nil:
		return found, nil
	case strategy.RevisionName != nil:
		return nil, fmt.Errorf("there is no revision %q of the SidecarSet; correct revisionName", *strategy.RevisionName)
	default:
		return nil, fmt.Errorf("the SidecarSet has no revision with the label %s=%s; correct customVersion",
			v1alpha1.SidecarSetCustomVersionLabel, *strategy.CustomVersion)
	}
}
