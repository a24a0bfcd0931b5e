// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	// hashLabel is on the workloads of subsets: what it was written for, beside the revision
	// and the number of pods. It changes with the topology, the selector and
	// revisionHistoryLimit. (UD-9)
	hashLabel = "uniteddeployment.podwright.io/hash"
	// patchAnnotation is on the workload of a subset that has a patch: that patch.
	patchAnnotation = "apps.kruise.io/subset-patch"
)

// rendering is what the workload of a subset is made of.
type rendering struct {
	set      *v1alpha1.UnitedDeployment
	template *v1alpha1.SubsetTemplate
	subset   *v1alpha1.Subset
	revision string // the value of the revision labels
	replicas int32
	// partition is at most replicas.
	partition int32
	features  Features
}

// podTemplate is what the pods of a template are made of; nil if there is none.
func podTemplate(t *v1alpha1.SubsetTemplate) *corev1.PodTemplateSpec {
	switch {
	case t.StatefulSetTemplate != nil:
		return &t.StatefulSetTemplate.Spec.Template
	case t.AdvancedStatefulSetTemplate != nil:
		return &t.AdvancedStatefulSetTemplate.Spec.Template
	case t.CloneSetTemplate != nil:
		return &t.CloneSetTemplate.Spec.Template
	case t.DeploymentTemplate != nil:
		return &t.DeploymentTemplate.Spec.Template
	}
	return nil
}

// metadata is that of the workloads of a template.
func metadata(t *v1alpha1.SubsetTemplate) *metav1.ObjectMeta {
	switch {
	case t.StatefulSetTemplate != nil:
		return &t.StatefulSetTemplate.ObjectMeta
	case t.AdvancedStatefulSetTemplate != nil:
		return &t.AdvancedStatefulSetTemplate.ObjectMeta
	case t.CloneSetTemplate != nil:
		return &t.CloneSetTemplate.ObjectMeta
	case t.DeploymentTemplate != nil:
		return &t.DeploymentTemplate.ObjectMeta
	}
	return &metav1.ObjectMeta{}
}

// render makes the workload, without a name. It shares nothing with the template. (UD-8)
func (r *rendering) render() (Object, error) {
	pods, err := r.pods()
	if err != nil {
		return nil, err
	}
	switch t := r.template; {
	case t.StatefulSetTemplate != nil:
		o := &appsv1.StatefulSet{TypeMeta: typeMeta(appsv1.SchemeGroupVersion.String(), "StatefulSet"), Spec: *t.StatefulSetTemplate.Spec.DeepCopy()}
		r.common(&o.ObjectMeta, v1alpha1.SubsetRevisionLabel, &o.Spec.Replicas, &o.Spec.Selector, &o.Spec.RevisionHistoryLimit)
		o.Spec.Template = *pods
		if s := &o.Spec.UpdateStrategy; s.Type == appsv1.OnDeleteStatefulSetStrategyType {
			s.RollingUpdate = nil
		} else {
			setPointer(&s.RollingUpdate).Partition = &r.partition
		}
		return o, nil
	case t.AdvancedStatefulSetTemplate != nil:
		o := &v1beta1.StatefulSet{TypeMeta: typeMeta(v1beta1.SchemeGroupVersion.String(), "StatefulSet"), Spec: *t.AdvancedStatefulSetTemplate.Spec.DeepCopy()}
		r.common(&o.ObjectMeta, r.features.revisionLabel(), &o.Spec.Replicas, &o.Spec.Selector, &o.Spec.RevisionHistoryLimit)
		o.Spec.Template = *pods
		if s := &o.Spec.UpdateStrategy; s.Type == appsv1.OnDeleteStatefulSetStrategyType {
			s.RollingUpdate = nil
		} else {
			setPointer(&s.RollingUpdate).Partition = &r.partition
		}
		return o, nil
	case t.CloneSetTemplate != nil:
		o := &v1alpha1.CloneSet{TypeMeta: typeMeta(v1alpha1.SchemeGroupVersion.String(), "CloneSet"), Spec: *t.CloneSetTemplate.Spec.DeepCopy()}
		r.common(&o.ObjectMeta, v1alpha1.SubsetRevisionLabel, &o.Spec.Replicas, &o.Spec.Selector, &o.Spec.RevisionHistoryLimit)
		o.Spec.Template = *pods
		o.Spec.UpdateStrategy.Partition = new(intstr.FromInt32(r.partition))
		return o, nil
	}
	o := &appsv1.Deployment{TypeMeta: typeMeta(appsv1.SchemeGroupVersion.String(), "Deployment"), Spec: *r.template.DeploymentTemplate.Spec.DeepCopy()}
	r.common(&o.ObjectMeta, v1alpha1.SubsetRevisionLabel, &o.Spec.Replicas, &o.Spec.Selector, &o.Spec.RevisionHistoryLimit)
	o.Spec.Template = *pods
	return o, nil
}

func typeMeta(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

// setPointer returns what a pointer points to, something new if it is nil.
func setPointer[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// common fills in what all kinds of workloads have.
func (r *rendering) common(meta *metav1.ObjectMeta, revisionLabel string, replicas **int32, selector **metav1.LabelSelector, limit **int32) {
	from := metadata(r.template)
	*meta = metav1.ObjectMeta{
		Namespace: r.set.Namespace, Labels: map[string]string{}, Annotations: maps.Clone(from.Annotations),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r.set, kindOfSet)},
	}
	maps.Copy(meta.Labels, from.Labels)
	maps.Copy(meta.Labels, r.set.Spec.Selector.MatchLabels)
	meta.Labels[revisionLabel], meta.Labels[v1alpha1.SubsetNameLabel], meta.Labels[hashLabel] = r.revision, r.subset.Name, r.hash()
	if patch := r.subset.Patch; hasPatch(patch) {
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[patchAnnotation] = string(patch.Raw)
	}
	*replicas = &r.replicas
	*selector = r.set.Spec.Selector.DeepCopy()
	if (*selector).MatchLabels == nil {
		(*selector).MatchLabels = map[string]string{}
	}
	(*selector).MatchLabels[v1alpha1.SubsetNameLabel] = r.subset.Name
	if own := r.set.Spec.RevisionHistoryLimit; own != nil {
		*limit = new(*own)
	}
}

// hash changes with everything that the workload is made of, beside the revision, the number
// of pods and the partition. It is not made of the workload itself, whose encoding changes
// with the libraries of Kubernetes.
func (r *rendering) hash() string {
	var patch string
	if hasPatch(r.subset.Patch) {
		patch = string(r.subset.Patch.Raw)
	}
	data, err := revision.Encode([]any{
		r.subset.NodeSelectorTerm.MatchExpressions, r.subset.Tolerations, patch, r.set.Spec.Selector, ptr.Deref(r.set.Spec.RevisionHistoryLimit, -1),
	})
	if err != nil {
		data = fmt.Append(nil, err) // these types can always be encoded
	}
	return hashOf(data)
}

func hashOf(data []byte) string {
	h := fnv.New32a()
	h.Write(data)
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}
