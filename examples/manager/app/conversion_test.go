// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// A replica that does not lead serves the conversion of StatefulSets, and keeps
// the definition leading to it.
func TestConversionOnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.somebodyElseLeads()
	replica := w.startReplica(w.config)
	install := func() {
		if err := crds.Install(w.Context(), w.dynamic, workloads.CRDs()); err != nil {
			t.Fatal(err)
		}
	}
	install()
	w.awaitConversion("PF-5: a definition that a user has installed")
	w.createConverted()
	w.convertsWithoutLoss("PF-5: at first", 1)

	before := w.definition()
	install()
	if diff := cmp.Diff(before, w.definition()); diff != "" {
		t.Errorf("PF-5: installing the definitions again changes them (-before +after):\n%s", diff)
	}

	w.patchDefinition(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	w.awaitConversion("PF-5: after a user has removed it")
	w.convertsWithoutLoss("PF-5: after a user has removed it", 2)

	w.patchSecret(`{"data":{"ca-key.pem":null,"cert.pem":null}}`)
	w.awaitNewAuthority(replica, before)
	w.convertsWithoutLoss("PF-5: with a new authority", 3)

	before = w.definition()
	w.patchSecret(`{"data":null}`)
	w.awaitNewAuthority(replica, before)
	w.convertsWithoutLoss("PF-5: with a new authority that no API server knows yet", 4)
	if err := replica.stop(); err != nil {
		t.Errorf("an orderly end gives %v", err)
	}
}

func (w *fixture) somebodyElseLeads() {
	w.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: w.config.LeaderElection.ID},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To[int32](3600),
			AcquireTime: ptr.To(metav1.NowMicro()), RenewTime: ptr.To(metav1.NowMicro()),
		},
	}
	if _, err := w.kubernetes.CoordinationV1().Leases(w.config.OwnNamespace).Create(w.Context(), lease, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// keptFields are those that v1alpha1 lacks: the test's own, and the defaults
// that the webhook has set.
var keptFields = map[string]string{
	conversion.KeptFieldsPrefix + "spec.persistentVolumeClaimRetentionPolicy":             `{"spec":{"persistentVolumeClaimRetentionPolicy":{}}}`,
	conversion.KeptFieldsPrefix + "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}`,
	conversion.KeptFieldsPrefix + "spec.persistentVolumeClaimRetentionPolicy.whenScaled":  `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain"}}}`,
	conversion.KeptFieldsPrefix + "spec.reserveOrdinals":                                  `{"spec":{"reserveOrdinals":[1,3]}}`,
}

// definition returns that of StatefulSet.
func (w *fixture) definition() *unstructured.Unstructured {
	w.Helper()
	definition, err := w.dynamic.Resource(crds.Resource).Get(w.Context(), webhooks.ConvertedName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return definition
}

func (w *fixture) patchDefinition(patch string) {
	w.Helper()
	_, err := w.dynamic.Resource(crds.Resource).Patch(w.Context(), webhooks.ConvertedName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) patchSecret(patch string) {
	w.Helper()
	_, err := w.kubernetes.CoreV1().Secrets(w.config.OwnNamespace).Patch(w.Context(), w.config.Webhook.Secret, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

func strategyOf(definition *unstructured.Unstructured) string {
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return strategy
}

func (w *fixture) awaitConversion(what string) {
	w.Helper()
	w.eventually(what, func() error {
		if strategy := strategyOf(w.definition()); strategy != "Webhook" {
			return fmt.Errorf("strategy %s", strategy)
		}
		return nil
	})
}

// awaitNewAuthority waits until the definition is another one, and the server
// presents a certificate of the authority that stands first in the Secret. Until
// then v1alpha1 requests are answered.
func (w *fixture) awaitNewAuthority(replica *manager, before *unstructured.Unstructured) {
	w.Helper()
	w.eventually("a new authority", func() error {
		if _, err := w.alpha().Get(w.Context(), "db", metav1.GetOptions{}); err != nil {
			w.Errorf("PF-5: a request while the authority changes: %v", err)
		}
		if cmp.Equal(before.Object["spec"], w.definition().Object["spec"]) {
			return fmt.Errorf("the definition has not changed")
		}
		secret, err := w.kubernetes.CoreV1().Secrets(w.config.OwnNamespace).Get(w.Context(), w.config.Webhook.Secret, metav1.GetOptions{})
		if err != nil {
			return err
		}
		first, _ := pem.Decode(secret.Data["ca-cert.pem"])
		if first == nil {
			return fmt.Errorf("the Secret holds no authority")
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem.EncodeToMemory(first))
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", replica.config.Webhook.Port), &tls.Config{RootCAs: roots})
		if err != nil {
			return err
		}
		return connection.Close()
	})
}

func (w *fixture) createConverted() {
	w.Helper()
	labels := map[string]string{"app": "db"}
	set := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"},
		Spec: v1beta1.StatefulSetSpec{
			Replicas:        ptr.To[int32](0),
			ReserveOrdinals: []int{1, 3},
			Selector:        &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "db:1"}}},
			},
		},
	}
	if _, err := w.workloads.StatefulSets("default").Create(w.Context(), set, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// readsConverted reads it in the version that is not stored.
func (w *fixture) readsConverted() error {
	_, err := w.in("v1alpha1", "statefulsets").Get(w.Context(), "db", metav1.GetOptions{})
	return err
}

// convertsWithoutLoss reads the StatefulSet as v1alpha1, changes it, and writes it
// back.
func (w *fixture) convertsWithoutLoss(when string, replicas int64) {
	w.Helper()
	w.eventually(when, func() error { return w.scaleAsAlpha(replicas) })
	set, err := w.workloads.StatefulSets("default").Get(w.Context(), "db", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if !slices.Equal(set.Spec.ReserveOrdinals, []int{1, 3}) || int64(*set.Spec.Replicas) != replicas || len(set.Annotations) > 0 {
		w.Errorf("%s: %d replicas, reserveOrdinals %v, annotations %v; want %d, [1 3], and none of v1alpha1",
			when, *set.Spec.Replicas, set.Spec.ReserveOrdinals, set.Annotations, replicas)
	}
}

// alpha is a client for v1alpha1.
func (w *fixture) alpha() dynamic.ResourceInterface {
	return w.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("statefulsets")).Namespace("default")
}

func (w *fixture) scaleAsAlpha(replicas int64) error {
	read, err := w.alpha().Get(w.Context(), "db", metav1.GetOptions{})
	if err != nil {
		return err
	}
	// Until the API server has seen the definition it drops what v1alpha1 lacks.
	if diff := cmp.Diff(keptFields, read.GetAnnotations()); diff != "" {
		return fmt.Errorf("v1alpha1 keeps (-want +got):\n%s", diff)
	}
	if err := unstructured.SetNestedField(read.Object, replicas, "spec", "replicas"); err != nil {
		return err
	}
	_, err = w.alpha().Update(w.Context(), read, metav1.UpdateOptions{})
	return err
}

// appliesPartsOfFields has one program apply several fields that v1beta1 alone has, while another one applies in v1alpha1. Each of
// them, and each part of one, goes when it is wanted no more, and no sooner. (STS-V3)
func (w *fixture) appliesPartsOfFields() {
	w.Helper()
	apply := func(manager, version, spec string) {
		w.Helper()
		w.eventually(manager+" applies "+spec, func() error {
			object := w.object("{apiVersion: apps.kruise.io/" + version + ", kind: StatefulSet, metadata: {name: parts}, spec: " + spec + "}")
			_, err := w.in(version, "statefulsets").Apply(w.Context(), "parts", object, metav1.ApplyOptions{FieldManager: manager, Force: true})
			return err
		})
	}
	expect := func(step, lifecycle, ordinals, scale string) {
		w.Helper()
		object := w.get("v1beta1", "statefulsets", "parts")
		for field, want := range map[string]string{"lifecycle": lifecycle, "reserveOrdinals": ordinals, "scaleStrategy": scale} {
			got, _, _ := unstructured.NestedFieldCopy(object.Object, "spec", field)
			if diff := cmp.Diff(fmt.Sprint(w.object("{value: " + want + "}").Object["value"]), fmt.Sprint(got)); diff != "" { // numbers are of other types
				w.Errorf("STS-V3: %s: %s (-want +got):\n%s", step, field, diff)
			}
		}
	}
	const hooks, ordinals = "{preDelete: {markPodNotReady: true, labelsHandler: {a: b}}, inPlaceUpdate: {labelsHandler: {shop/a: b}}}", "[1]"
	apply("creator", "v1beta1", "{replicas: 0, podManagementPolicy: Parallel, serviceName: parts, selector: {matchLabels: {app: parts}}, "+
		"template: {metadata: {labels: {app: parts}}, spec: {containers: [{name: main, image: busybox}]}}}")
	apply("beta", "v1beta1", "{lifecycle: "+hooks+", reserveOrdinals: [1], scaleStrategy: {maxUnavailable: 1}}")
	apply("alpha", "v1alpha1", "{revisionHistoryLimit: 7}")
	expect("all are there", hooks, ordinals, "{maxUnavailable: 1}")
	apply("beta", "v1beta1", "{lifecycle: "+hooks+", reserveOrdinals: [1]}")
	expect("one is not", hooks, ordinals, "null")
	apply("other", "v1beta1", "{lifecycle: {preDelete: {labelsHandler: {a: b}}}}")
	apply("beta", "v1beta1", "{lifecycle: {inPlaceUpdate: {labelsHandler: {shop/a: b}}}, scaleStrategy: {maxUnavailable: 2}}")
	expect("what another one wants too stays", "{preDelete: {labelsHandler: {a: b}}, inPlaceUpdate: {labelsHandler: {shop/a: b}}}", "null", "{maxUnavailable: 2}")
	apply("alpha", "v1alpha1", "{}")
	apply("beta", "v1beta1", "{reserveOrdinals: [1]}")
	expect("all but one are not", "{preDelete: {labelsHandler: {a: b}}}", ordinals, "null")
}
