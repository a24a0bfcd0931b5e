// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

var at = metav1.NewTime(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC))

// testPod has something of everything that a patch can change.
func testPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-x7k2p", UID: "u1", ResourceVersion: "42",
			Labels:          map[string]string{"app": "web", "rev": "a"},
			Annotations:     map[string]string{"note": "old"},
			Finalizers:      []string{"example.com/held"},
			OwnerReferences: []metav1.OwnerReference{{UID: "o1", Name: "web"}, {UID: "o2", Name: "other"}},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init", Image: "init:1"}},
			Containers:     []corev1.Container{{Name: "web", Image: "web:1"}, {Name: "log", Image: "log:1"}},
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: "A", Status: "True"},
			{Type: "B", Status: "False", Reason: "Why", Message: "because"},
		}},
	}
}

func condition(t corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{Type: t, Status: status, Reason: reason, Message: message, LastTransitionTime: at}
}

// TestWrites shows each write as "subresource: data", without the UID.
func TestWrites(t *testing.T) {
	const aFalse = `{"type":"A","status":"False","reason":null,"message":null,"lastTransitionTime":"2024-05-01T12:00:00Z"}`
	tests := []struct {
		name string
		edit func(*podpatch.Patch)
		want []string
	}{
		{"the zero patch writes nothing", func(*podpatch.Patch) {}, nil},

		{"a label", func(p *podpatch.Patch) { p.SetLabel("rev", "b") }, []string{`: {"metadata":{"labels":{"rev":"b"}}}`}},
		{"a label that stands writes nothing", func(p *podpatch.Patch) { p.SetLabel("rev", "a") }, nil},
		{"an empty label is not an absent one", func(p *podpatch.Patch) { p.SetLabel("new", "") }, []string{`: {"metadata":{"labels":{"new":""}}}`}},
		{"an annotation", func(p *podpatch.Patch) { p.SetAnnotation("note", "new") }, []string{`: {"metadata":{"annotations":{"note":"new"}}}`}},
		{"an annotation removed", func(p *podpatch.Patch) { p.RemoveAnnotation("note") }, []string{`: {"metadata":{"annotations":{"note":null}}}`}},
		{"an absent annotation removed writes nothing", func(p *podpatch.Patch) { p.RemoveAnnotation("none") }, nil},

		{"a finalizer", func(p *podpatch.Patch) { p.AddFinalizers = []string{"f"} }, []string{`: {"metadata":{"finalizers":["f"]}}`}},
		{"a finalizer twice", func(p *podpatch.Patch) { p.AddFinalizers = []string{"f", "f"} }, []string{`: {"metadata":{"finalizers":["f"]}}`}},
		{"a finalizer that stands writes nothing", func(p *podpatch.Patch) { p.AddFinalizers = []string{"example.com/held"} }, nil},
		{"an owner removed", func(p *podpatch.Patch) { p.RemoveOwner = "o1" }, []string{`: {"metadata":{"ownerReferences":[{"$patch":"delete","uid":"o1"}]}}`}},
		{"an owner removed that is none writes nothing", func(p *podpatch.Patch) { p.RemoveOwner = "o3" }, nil},

		{"an image", func(p *podpatch.Patch) { p.SetImage("log", "log:2") }, []string{`: {"metadata":{},"spec":{"containers":[{"name":"log","image":"log:2"}]}}`}},
		{"an image that stands writes nothing", func(p *podpatch.Patch) { p.SetImage("log", "log:1") }, nil},
		{"an image of no container writes nothing", func(p *podpatch.Patch) { p.SetImage("none", "log:2") }, nil},
		{"an image of an init container writes nothing", func(p *podpatch.Patch) { p.SetImage("init", "init:2") }, nil},

		{"a condition clears reason and message", func(p *podpatch.Patch) { p.SetCondition(condition("A", "False", "", "")) },
			[]string{`status: {"metadata":{},"status":{"conditions":[` + aFalse + `]}}`}},
		{"a condition that stands writes nothing, whatever its time", func(p *podpatch.Patch) { p.SetCondition(condition("B", "False", "Why", "because")) }, nil},
		{"a condition set twice counts once", func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "Unknown", "x", "y"))
			p.SetCondition(condition("A", "False", "", ""))
		}, []string{`status: {"metadata":{},"status":{"conditions":[` + aFalse + `]}}`}},

		{"condition and label are one write", func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "False", "", ""))
			p.SetLabel("rev", "b")
			p.SetAnnotation("note", "new")
		}, []string{`status: {"metadata":{"annotations":{"note":"new"},"labels":{"rev":"b"}},"status":{"conditions":[` + aFalse + `]}}`}},
		{"condition, label and image are two writes, the condition first", func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "False", "", ""))
			p.SetLabel("rev", "b")
			p.SetImage("web", "web:2")
		}, []string{
			`status: {"metadata":{},"status":{"conditions":[` + aFalse + `]}}`,
			`: {"metadata":{"labels":{"rev":"b"}},"spec":{"containers":[{"name":"web","image":"web:2"}]}}`,
		}},
		{"condition and finalizer are two writes", func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "False", "", ""))
			p.AddFinalizers = []string{"f"}
		}, []string{`status: {"metadata":{},"status":{"conditions":[` + aFalse + `]}}`, `: {"metadata":{"finalizers":["f"]}}`}},
		{"a standing condition takes no label along", func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "True", "", ""))
			p.SetLabel("rev", "b")
		}, []string{`: {"metadata":{"labels":{"rev":"b"}}}`}},

		{"if unchanged: one write", func(p *podpatch.Patch) {
			p.IfUnchanged = true
			p.SetLabel("rev", "b")
		}, []string{`: {"metadata":{"labels":{"rev":"b"},"resourceVersion":"42"}}`}},
		{"if unchanged: the first of two writes only", func(p *podpatch.Patch) {
			p.IfUnchanged = true
			p.SetCondition(condition("A", "False", "", ""))
			p.SetImage("web", "web:2")
		}, []string{
			`status: {"metadata":{"resourceVersion":"42"},"status":{"conditions":[` + aFalse + `]}}`,
			`: {"metadata":{},"spec":{"containers":[{"name":"web","image":"web:2"}]}}`,
		}},
		{"if unchanged alone writes nothing", func(p *podpatch.Patch) { p.IfUnchanged = true }, nil},

		{"metadata patch", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"k":null,"rev":"b"},"$deleteFromPrimitiveList/finalizers":["example.com/held"]}}`)
		}, []string{`: {"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/held"],"labels":{"rev":"b"}}}`}},
		{"metadata patch: labels and annotations win", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"rev":"c","k":"v"}}}`)
			p.SetLabel("rev", "b")
		}, []string{`: {"metadata":{"labels":{"k":"v","rev":"b"}}}`}},
		{"metadata patch: a label kept wins over its removal", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"rev":null}}}`)
			p.SetLabel("rev", "a")
		}, nil},
		{"metadata patch: values over a removed map", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"annotations":null}}`)
			p.SetAnnotation("state", "x")
		}, []string{`: {"metadata":{"annotations":{"note":null,"state":"x"}}}`}},
		{"metadata patch: finalizers are added to its own", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"$setElementOrder/finalizers":["g"],"finalizers":["g"]}}`)
			p.AddFinalizers = []string{"f", "g"}
		}, []string{`: {"metadata":{"$setElementOrder/finalizers":["g","f"],"finalizers":["g","f"]}}`}},
		{"metadata patch: finalizers are added in its order", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"$setElementOrder/finalizers":["b","c"],"finalizers":["c"]}}`)
			p.AddFinalizers = []string{"a", "b"}
		}, []string{`: {"metadata":{"$setElementOrder/finalizers":["b","c","a"],"finalizers":["b","c","a"]}}`}},
		{"metadata patch: a finalizer to add wins over its removal", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/held"]}}`)
			p.AddFinalizers = []string{"example.com/held"}
		}, nil},
		{"metadata patch: a directive keeps what stands", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"$patch":"replace","rev":"a"}}}`)
		}, []string{`: {"metadata":{"labels":{"$patch":"replace","rev":"a"}}}`}},
		{"metadata patch that stands writes nothing", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"rev":"a","gone":null}}}`)
		}, nil},
		{"metadata patch: empty", func(p *podpatch.Patch) { p.Metadata = []byte(`{}`) }, nil},
		{"metadata patch of labels rides on the status", func(p *podpatch.Patch) {
			p.Metadata = []byte(`{"metadata":{"labels":{"rev":"b"}}}`)
			p.SetCondition(condition("A", "False", "", ""))
		}, []string{`status: {"metadata":{"labels":{"rev":"b"}},"status":{"conditions":[` + aFalse + `]}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			tt.edit(&p)
			pod := testPod()
			writes, err := p.Writes(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, show(t, writes)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(testPod(), pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
			again(t, &p, pod)
		})
	}
}

// show checks that every write names the UID and takes it out.
func show(t *testing.T, writes []podpatch.Write) []string {
	t.Helper()
	var out []string
	for _, w := range writes {
		data := string(w.Data)
		if !strings.Contains(data, `"uid":"u1"`) {
			t.Errorf("write does not name the pod's UID: %s", data)
		}
		data = strings.Replace(data, `,"uid":"u1"`, "", 1)
		data = strings.Replace(data, `"uid":"u1"`, "", 1)
		out = append(out, w.Subresource+": "+data)
	}
	return out
}

// again checks that a patch writes nothing to the pod that it made.
func again(t *testing.T, p *podpatch.Patch, pod *corev1.Pod) {
	t.Helper()
	if strings.Contains(string(p.Metadata), "$") {
		return // whether a directive stands is known to the API server only
	}
	after, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	writes, err := p.Writes(after)
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) != 0 {
		t.Errorf("the patch still writes after it was applied: %v", show(t, writes))
	}
}

func TestWritesInvalidMetadata(t *testing.T) {
	p := podpatch.Patch{Metadata: []byte(`{"metadata":`)}
	if _, err := p.Writes(testPod()); err == nil || !strings.Contains(err.Error(), "shop/web-x7k2p") {
		t.Errorf("want an error that names the pod, got %v", err)
	}
	if _, err := p.Apply(testPod()); err == nil {
		t.Error("Apply: want an error")
	}
}

func TestApply(t *testing.T) {
	var p podpatch.Patch
	p.SetLabel("rev", "b")
	p.SetAnnotation("new", "1")
	p.RemoveAnnotation("note")
	p.SetImage("web", "web:2")
	p.AddFinalizers = []string{"f"}
	p.RemoveOwner = "o1"
	p.SetCondition(condition("B", "True", "", ""))
	p.SetCondition(condition("C", "False", "R", "m"))

	want := testPod()
	want.Labels["rev"] = "b"
	want.Annotations = map[string]string{"new": "1"}
	want.Spec.Containers[0].Image = "web:2"
	want.Finalizers = []string{"f", "example.com/held"}
	want.OwnerReferences = want.OwnerReferences[1:]
	want.Status.Conditions[1] = condition("B", "True", "", "")
	want.Status.Conditions = append(want.Status.Conditions, condition("C", "False", "R", "m"))

	pod := testPod()
	got, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod after the patch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(testPod(), pod); diff != "" {
		t.Errorf("the pod given was changed:\n%s", diff)
	}
}

// What a patch does not name passes through, newer fields among it.
func TestApplyKeepsTheRest(t *testing.T) {
	pod := testPod()
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers[0].RestartPolicy = &always
	pod.Status.Conditions[0].ObservedGeneration = 7
	pod.Status.Conditions[0].LastProbeTime = at
	var p podpatch.Patch
	p.SetImage("web", "web:2")
	p.SetCondition(condition("A", "False", "", ""))

	got, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := pod.DeepCopy()
	want.Spec.Containers[0].Image = "web:2"
	want.Status.Conditions[0].Status = "False"
	want.Status.Conditions[0].LastTransitionTime = at
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod after the patch (-want +got):\n%s", diff)
	}
}

func TestCondition(t *testing.T) {
	var p podpatch.Patch
	p.SetCondition(condition("B", "True", "", ""))
	for _, tt := range []struct {
		name string
		t    corev1.PodConditionType
		want corev1.ConditionStatus
	}{
		{"from the pod", "A", "True"},
		{"the patch wins", "B", "True"},
		{"absent", "C", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got corev1.ConditionStatus
			if c := p.Condition(testPod(), tt.t); c != nil {
				got = c.Status
			}
			if got != tt.want {
				t.Errorf("want status %q, got %q", tt.want, got)
			}
		})
	}
}

// A metadata patch comes from templates that users write.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"metadata":null}`, `{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":"b","c":null}}}`,
		`{"metadata":{"labels":5}}`, `{"metadata":{"labels":{"rev":{}}}}`,
		`{"metadata":{"$setElementOrder/finalizers":["g"],"finalizers":["g"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		p := podpatch.Patch{Metadata: metadata, AddFinalizers: []string{"f"}}
		p.SetLabel("rev", "b")
		writes, err := p.Writes(testPod())
		if err != nil {
			return
		}
		for _, w := range writes {
			var patch struct {
				Metadata struct {
					UID    string         `json:"uid"`
					Labels map[string]any `json:"labels"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(w.Data, &patch); err != nil {
				t.Fatalf("write is no patch: %v: %s", err, w.Data)
			}
			if patch.Metadata.UID != "u1" || patch.Metadata.Labels["rev"] != "b" {
				t.Errorf("write lost the UID or the label: %s", w.Data)
			}
		}
	})
}

func BenchmarkWrites(b *testing.B) {
	pod := testPod()
	b.Run("nothing to write", func(b *testing.B) {
		var p podpatch.Patch
		p.SetLabel("rev", "a")
		b.ReportAllocs()
		for b.Loop() {
			if w, err := p.Writes(pod); err != nil || len(w) != 0 {
				b.Fatal(w, err)
			}
		}
	})
	b.Run("condition, label and image", func(b *testing.B) {
		var p podpatch.Patch
		p.SetLabel("rev", "b")
		p.SetImage("web", "web:2")
		p.SetCondition(condition("A", "False", "", ""))
		b.ReportAllocs()
		for b.Loop() {
			if w, err := p.Writes(pod); err != nil || len(w) != 2 {
				b.Fatal(w, err)
			}
		}
	})
}

func TestChangesAgreesWithWrites(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			UID: "u", Labels: map[string]string{"a": "1"}, Finalizers: []string{"f"},
			OwnerReferences: []metav1.OwnerReference{{UID: "owner"}},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Gate", Status: corev1.ConditionTrue}}},
	}
	one, two := "1", "2"
	for name, p := range map[string]podpatch.Patch{
		"nothing":              {},
		"standing label":       {Labels: map[string]*string{"a": &one}},
		"other label":          {Labels: map[string]*string{"a": &two}},
		"removed label":        {Labels: map[string]*string{"a": nil}},
		"absent label":         {Labels: map[string]*string{"b": nil}},
		"new annotation":       {Annotations: map[string]*string{"a": &one}},
		"standing image":       {Images: map[string]string{"main": "nginx:1"}},
		"other image":          {Images: map[string]string{"main": "nginx:2"}},
		"unknown container":    {Images: map[string]string{"side": "nginx:2"}},
		"standing condition":   {Conditions: []corev1.PodCondition{{Type: "Gate", Status: corev1.ConditionTrue}}},
		"other condition":      {Conditions: []corev1.PodCondition{{Type: "Gate", Status: corev1.ConditionFalse}}},
		"standing finalizer":   {AddFinalizers: []string{"f"}},
		"new finalizer":        {AddFinalizers: []string{"g"}},
		"owner":                {RemoveOwner: "owner"},
		"somebody else":        {RemoveOwner: "stranger"},
		"standing resources":   {Resources: map[string]corev1.ResourceRequirements{"main": cpu("", "")}},
		"other resources":      {Resources: map[string]corev1.ResourceRequirements{"main": cpu("1", "")}},
		"of no container":      {Resources: map[string]corev1.ResourceRequirements{"side": cpu("1", "")}},
		"general and standing": {Metadata: []byte(`{"metadata":{"labels":{"a":"1"}}}`)},
		"general":              {Metadata: []byte(`{"metadata":{"labels":{"a":"2"}}}`)},
		"broken":               {Metadata: []byte(`{`)},
	} {
		writes, err := p.Writes(pod)
		if want := err != nil || len(writes) > 0; p.Changes(pod) != want {
			t.Errorf("%s: Changes is %v, Writes returns %d requests and error %v", name, !want, len(writes), err)
		}
	}
}
