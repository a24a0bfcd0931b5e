// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// measured are InjectionMetrics that remember the last call.
type measured struct{ last string }

func (m *measured) Injected(sets []string, took time.Duration, err error) {
	m.last = fmt.Sprintf("%v %v refused: %t", sets, took, err != nil)
}

const plainPod = `{"metadata":{"generateName":"web-","labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}`

func createPod(pod string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Operation: admissionv1.Create, Namespace: "shop",
		Object: runtime.RawExtension{Raw: []byte(pod)},
	}
}

func TestInjector(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}
	const teamA = "{namespaceSelector: {matchLabels: {team: a}}}"
	const old = "{injectionStrategy: {revision: {revisionName: demo-1}}}"
	first := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "demo-1", Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "demo"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"log","image":"log:0"}]}}`)}}
	for _, test := range []struct {
		name     string
		spec     string // of the SidecarSet; empty: there is none
		reader   known
		pod      string
		want     string // the containers
		err      string
		measured string
		event    string
	}{
		{name: "SCS-W5: the namespace of the request", spec: "{namespace: shop}", want: "log main", measured: "[demo] 0s refused: false"},
		{name: "SCS-W5: another namespace", spec: "{namespace: bank}", want: "main", measured: "[] 0s refused: false"},
		{name: "SCS-W5: none that may match", want: "main"},
		{name: "SCS-W5: by the labels of the namespace", spec: teamA, reader: known{namespaces: []*corev1.Namespace{shop}}, want: "log main", measured: "[demo] 0s refused: false"},
		{name: "SCS-W5: a namespace that is gone", spec: teamA, want: "main", measured: "[] 0s refused: false"},
		{name: "SCS-W5: a revision", spec: old, reader: known{revisions: []*appsv1.ControllerRevision{first}}, want: "log main", measured: "[demo] 0s refused: false"},
		{name: "SCS-W5: a revision that is gone", spec: old, err: `inject sidecars: SidecarSet demo: spec.injectionStrategy.revision: there is no revision "demo-1" of the SidecarSet`, measured: "[demo] 0s refused: true"},
		{name: "SCS-W5: a revision that does not matter", spec: "{namespace: bank, injectionStrategy: {revision: {revisionName: demo-1}}}", want: "main", measured: "[] 0s refused: false"},
		{name: "SCS-W5: caches that are not filled", spec: "{}", reader: known{err: apierrors.NewNotFound(corev1.Resource("pods"), "x")}, err: "inject sidecars: read the SidecarSets", measured: "[] 0s refused: true"},
		{name: "SCI-5: an annotation that cannot be merged", spec: "{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {a: '1'}}]}",
			pod: strings.Replace(plainPod, `"labels"`, `"annotations":{"a":"{}"},"labels"`, 1), want: "log main", measured: "[demo] 0s refused: false",
			event: "Warning AnnotationNotMerged a pod of namespace shop: spec.patchPodMetadata[0].annotations[a]: the pod's value stays: want two JSON objects to merge, and that of the SidecarSet is none"},
		{name: "SCS-W5: annotations that cannot be read", spec: "{}",
			pod: strings.Replace(plainPod, `"labels"`, `"annotations":{"kruise.io/sidecarset-hash":"x"},"labels"`, 1), err: "kruise.io/sidecarset-hash of the pod", measured: "[] 0s refused: true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.spec != "" {
				test.reader.sets = append(test.reader.sets, setOf(t, "demo", test.spec))
			}
			if test.pod == "" {
				test.pod = plainPod
			}
			metrics := &measured{}
			recorder := record.NewFakeRecorder(10)
			injector := &sidecarset.Injector{Reader: &test.reader, Clock: clocktesting.NewFakePassiveClock(noon), Metrics: metrics, Recorder: recorder}
			pod := &corev1.Pod{}
			if err := json.Unmarshal([]byte(test.pod), pod); err != nil {
				t.Fatal(err)
			}
			err := injector.Mutate(t.Context(), createPod(test.pod), pod)
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Fatalf("error %v, want %q", err, test.err)
			case err != nil:
				var status apierrors.APIStatus
				if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
					t.Errorf("SCS-W5: refused with %+v, want the code 500", status)
				}
			default:
				var got []string
				for _, c := range pod.Spec.Containers {
					got = append(got, c.Name)
				}
				if names := strings.Join(got, " "); names != test.want {
					t.Errorf("containers %s, want %s", names, test.want)
				}
				select {
				case event := <-recorder.Events:
					if event != test.event {
						t.Errorf("event %q, want %q", event, test.event)
					}
				default:
					if test.event != "" {
						t.Errorf("no event, want %q", test.event)
					}
				}
				again := pod.DeepCopy()
				if err := injector.Mutate(t.Context(), createPod(test.pod), again); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(pod, again); diff != "" {
					t.Errorf("SCS-W5: a second call changes (-first +second):\n%s", diff)
				}
			}
			if metrics.last != test.measured {
				t.Errorf("measured %q, want %q", metrics.last, test.measured)
			}
		})
	}
	if err := (&sidecarset.Injector{}).Mutate(t.Context(), createPod(plainPod), &corev1.Pod{}); err == nil {
		t.Error("no error without a Reader")
	}
	update := createPod(plainPod)
	update.Operation = admissionv1.Update
	if err := (&sidecarset.Injector{}).Mutate(t.Context(), update, &corev1.Pod{}); err != nil {
		t.Errorf("SCS-W5: an update is no creation: %v", err)
	}
}

// What is injected counts for the order in which containers start.
func ExampleInjector() {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "mesh"}, Spec: v1alpha1.SidecarSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{
			Name: "proxy", Image: "proxy:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "100"}}}}},
	}}
	// A program reads informers: NewAdmissionCaches.
	injector := &sidecarset.Injector{Reader: &known{sets: []*v1alpha1.SidecarSet{set}}}
	webhook := &podwebhook.Webhook{Sidecars: injector.Mutate, LaunchPriority: launchpriority.Mutate}

	response := webhook.Default(context.Background(), createPod(plainPod))
	var steps []struct{ Path string }
	if err := json.Unmarshal(response.Patch, &steps); err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range steps {
		fmt.Println(step.Path)
	}
	// Output:
	// /metadata/annotations
	// /metadata/name
	// /spec/containers
}
