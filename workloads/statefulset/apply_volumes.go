// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// observeClasses reads the storage classes of claims that are too small. (STS-42)
func (r *reconciler) observeClasses(ctx context.Context, s *Snapshot) error {
	if !s.resizes() {
		return nil
	}
	read := r.options.StorageClass
	if read == nil {
		read = func(ctx context.Context, name string) (*storagev1.StorageClass, error) {
			return r.options.Kubernetes.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
		}
	}
	for i := range s.Pods {
		pod := &pod{}
		pod.Pod = s.Pods[i]
		pod.ordinal, _ = ordinalOf(s.Set.Name, pod.Name)
		for _, v := range s.volumesOf(pod) {
			name := ptr.Deref(v.claim.Spec.StorageClassName, "")
			if _, known := s.Classes[name]; known || name == "" || v.compatible() || !v.sameKind() {
				continue
			}
			class, err := read(ctx, name)
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("read the storage class of claim %s: %w", v.claim.Name, err)
			}
			if err != nil {
				class = nil
			}
			if s.Classes == nil {
				s.Classes = map[string]*storagev1.StorageClass{}
			}
			s.Classes[name] = class
		}
	}
	return nil
}

// resizeClaims has claims ask for what their claim templates ask for, and tells users which cannot. (STS-41, STS-42)
func (a *applier) resizeClaims(ctx context.Context) error {
	for _, err := range a.plan.RefusedClaims {
		a.Sync.Event(corev1.EventTypeWarning, "FailedUpdatePVC", "%v", err)
	}
	a.tellLarger()
	return a.Failed(failedUpdate, apply.Each(ctx, a.plan.ResizeClaims, a.resizeClaim))
}

// tellLarger tells users which claims stay larger than their templates, once for each size of a template. (STS-45)
func (a *applier) tellLarger() {
	if a.set.Generation == a.set.Status.ObservedGeneration {
		return
	}
	told, sizes := a.kept.Get(a.Key), map[string]string{}
	var larger []string
	for _, claim := range a.plan.LargerClaims {
		template := a.snapshot.templateOf(claim)
		if sizes[template.Name] = template.Spec.Resources.Requests.Storage().String(); told[template.Name] != sizes[template.Name] {
			larger = append(larger, claim)
		}
	}
	const text = "than spec.volumeClaimTemplates does by now, and %s so: storage does not shrink; claims of new pods are smaller"
	switch len(larger) {
	case 0:
	case 1:
		a.Sync.Event(corev1.EventTypeNormal, "KeptClaimSize", "claim %s asks for more "+text, larger[0], "stays")
	default:
		a.Sync.Event(corev1.EventTypeNormal, "KeptClaimSize", "claim %s and %d more ask for more "+text, larger[0], len(larger)-1, "stay")
	}
	a.kept.Set(a.Key, sizes)
}

// resizeClaim asks for more storage, and for nothing else: the API server refuses any other change of a claim's resources.
// It does so only if the claim has not changed. Another manager may have had it ask for more meanwhile, and storage does not
// shrink.
func (a *applier) resizeClaim(ctx context.Context, c ClaimResize) error {
	requests := corev1.ResourceList{corev1.ResourceStorage: *c.Resources.Requests.Storage()}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.Claim.UID, "resourceVersion": c.Claim.ResourceVersion, "annotations": map[string]string{v1beta1.OwnedByStatefulSetAnnotation: a.set.Name}},
		"spec":     map[string]any{"resources": map[string]any{"requests": requests}},
	})
	if err != nil {
		return err
	}
	if err := a.Sync.PatchClaim(ctx, c.Claim, data); err != nil {
		if apierrors.IsConflict(err) {
			return err
		}
		a.Sync.Event(corev1.EventTypeWarning, "FailedResize", "resize Claim %s for Pod %s in StatefulSet %s failed error: %v", c.Claim.Name, c.Pod, a.set.Name, err)
		return fmt.Errorf("resize claim %s of pod %s: %w", c.Claim.Name, c.Pod, err)
	}
	a.Sync.Event(corev1.EventTypeNormal, "SuccessfulResize", "resize Claim %s Pod %s in StatefulSet %s success", c.Claim.Name, c.Pod, a.set.Name)
	return nil
}
