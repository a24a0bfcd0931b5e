// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// inVersion gives the StatefulSets of the namespace as a client of one version has them.
func (s *statefulSetFixture) inVersion(version string) dynamic.ResourceInterface {
	return s.Dynamic.Resource(statefulSets.GroupResource().WithVersion(version)).Namespace(s.Namespace)
}

// A client that knows v1alpha1 only reads a StatefulSet and writes it back. What its version does not have stays.
func TestClientsOfV1alpha1(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(2, s.spec(parallelInPlace), s.retained("Retain", "Delete"), s.spec(`{reserveOrdinals: [1],
		scaleStrategy: {maxUnavailable: 2}, lifecycle: {preDelete: {labelsHandler: {`+hold+`: "yes"}}}}`)))
	before, stored := s.owned("web"), s.set("web")
	sets := s.inVersion(v1alpha1.SchemeGroupVersion.Version)
	set, err := sets.Get(s.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.Fatalf("get in v1alpha1: %v", err)
	}
	for _, field := range []string{"reserveOrdinals", "lifecycle", "scaleStrategy", "persistentVolumeClaimRetentionPolicy"} {
		if value, has, _ := unstructured.NestedFieldNoCopy(set.Object, "spec", field); has {
			s.Errorf("expected no spec.%s in v1alpha1, observed %v", field, value)
		}
	}
	if err := unstructured.SetNestedField(set.Object, int64(3), "spec", "replicas"); err != nil {
		s.Fatal(err)
	}
	if _, err := sets.Update(s.Context(), set, metav1.UpdateOptions{}); err != nil {
		s.Fatalf("update in v1alpha1: expected no error, observed %v", err)
	}
	s.awaitSettled("web")
	s.unmoved(before, "web", "web-3")
	if _, err := sets.Patch(s.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{}, "scale"); err != nil {
		s.Fatalf("scale in v1alpha1: expected no error, observed %v", err)
	}
	s.awaitSettled("web")
	s.unmoved(before, "web")
	s.deletedOnly("web-3")
	if diff := cmp.Diff(stored.Spec, s.set("web").Spec); diff != "" {
		s.Errorf("STS-E23: spec in v1beta1 after the writes in v1alpha1 (-before +after):\n%s", diff)
	}
}

// Whatever version a manifest is of, what is wrong with it is refused by the name of the field.
func TestWrongStatefulSetsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	const rolling = "spec.updateStrategy.rollingUpdate."
	for _, test := range []struct {
		name, field, spec string
		onlyV1beta1       bool
	}{
		{name: "STS-E1: OrderedReady with 2", field: rolling + "maxUnavailable", spec: `{updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}`},
		{name: "STS-E1: OrderedReady with 10%", field: rolling + "maxUnavailable", spec: `{updateStrategy: {rollingUpdate: {maxUnavailable: "10%"}}}`},
		{name: "STS-E2: 0%", field: rolling + "maxUnavailable", spec: `{podManagementPolicy: Parallel, updateStrategy: {rollingUpdate: {maxUnavailable: "0%"}}}`},
		{name: "STS-E3: in place without the gate", field: rolling + "podUpdatePolicy",
			spec: `{template: {spec: {readinessGates: []}}, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}}`},
		{name: "STS-E5", field: rolling + "minReadySeconds", spec: `{updateStrategy: {rollingUpdate: {minReadySeconds: 301}}}`},
		{name: "a negative partition", field: rolling + "partition", spec: `{updateStrategy: {rollingUpdate: {partition: -1}}}`},
		{name: "unordered in order", field: rolling + "unorderedUpdate", spec: `{updateStrategy: {rollingUpdate: {unorderedUpdate: {}}}}`},
		{name: "OnDelete and a rolling update", field: "spec.updateStrategy.rollingUpdate", spec: `{updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}`},
		{name: "negative replicas", field: "spec.replicas", spec: `{replicas: -1}`},
		{name: "restartPolicy", field: "spec.template.spec.restartPolicy", spec: `{template: {spec: {restartPolicy: Never}}}`},
		{name: "template, dry run", field: "spec.template.spec.containers[0].image", spec: `{template: {spec: {containers: [{name: main, image: ""}]}}}`},
		{name: "one ordinal twice", field: "spec.reserveOrdinals[1]", spec: `{reserveOrdinals: [1, 1]}`, onlyV1beta1: true},
		{name: "scaling in order with 2", field: "spec.scaleStrategy.maxUnavailable", spec: `{scaleStrategy: {maxUnavailable: 2}}`, onlyV1beta1: true},
		{name: "an unknown policy", field: "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
			spec: `{persistentVolumeClaimRetentionPolicy: {whenScaled: Keep}}`, onlyV1beta1: true},
	} {
		for _, version := range []string{v1beta1.SchemeGroupVersion.Version, v1alpha1.SchemeGroupVersion.Version} {
			if test.onlyV1beta1 && version != v1beta1.SchemeGroupVersion.Version {
				continue
			}
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(statefulSet(2, s.spec(test.spec)))
			if err != nil {
				s.Fatal(err)
			}
			set := &unstructured.Unstructured{Object: object}
			set.SetGroupVersionKind(statefulSets.GroupResource().WithVersion(version).GroupVersion().WithKind("StatefulSet"))
			_, err = s.inVersion(version).Create(s.Context(), set, metav1.CreateOptions{DryRun: dryRun(test.name)})
			s.refused("create in "+version+", "+test.name, err, test.field)
		}
	}
}

func TestWrongChangesOfStatefulSetsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(1, s.spec(`{serviceName: peers, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}}`)))
	for _, version := range []string{v1beta1.SchemeGroupVersion.Version, v1alpha1.SchemeGroupVersion.Version} {
		for _, test := range []struct{ name, field, patch string }{
			{"immutable", "spec.serviceName", `{"spec":{"serviceName":"others"}}`},
			{"immutable", "spec.podManagementPolicy", `{"spec":{"podManagementPolicy":"Parallel"}}`},
			{"immutable", "spec.selector", `{"spec":{"selector":{"matchLabels":{"app":"next"}},"template":{"metadata":{"labels":{"app":"next"}}}}}`},
			{"InPlaceOnly", "spec.template.spec", `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`},
		} {
			_, err := s.inVersion(version).Patch(s.Context(), "web", types.MergePatchType, []byte(test.patch), metav1.PatchOptions{})
			s.refused("change in "+version+", "+test.name, err, test.field)
		}
	}
	if stored := s.set("web"); stored.Generation != 1 {
		s.Errorf("expected nothing to be changed, observed generation %d: %+v", stored.Generation, stored.Spec)
	}
}

// The defaults of both versions are the same template, so that a client of either rolls nothing by saving.
func TestDefaultsOfBothVersions(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(1))
	before, revision := s.owned("web"), s.set("web").Status.UpdateRevision
	for _, version := range []string{v1alpha1.SchemeGroupVersion.Version, v1beta1.SchemeGroupVersion.Version} {
		if _, err := s.inVersion(version).Patch(s.Context(), "web", types.MergePatchType, []byte(`{"spec":{"revisionHistoryLimit":3}}`), metav1.PatchOptions{}); err != nil {
			s.Fatalf("change in %s: expected no error, observed %v", version, err)
		}
	}
	s.edit("web", s.spec(`{replicas: 2}`))
	s.awaitSettled("web")
	if status := s.set("web").Status; status.UpdateRevision != revision || len(s.Revisions.All()) != 1 {
		s.Errorf("expected the revision %s alone, observed %+v", revision, status)
	}
	if pull := before[0].Spec.Containers[0].ImagePullPolicy; pull != corev1.PullAlways {
		s.Errorf("expected the default imagePullPolicy Always, observed %s", pull)
	}
	s.deletedOnly()
}
