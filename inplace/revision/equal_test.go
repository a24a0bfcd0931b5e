// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/inplace/revision"
)

func stored(name, data string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       runtime.RawExtension{Raw: []byte(data)},
	}
}

// wrap returns revision data for a template given as JSON.
func wrap(template string) string { return `{"spec":{"template":` + template + `}}` }

func container(field string) string {
	return wrap(`{"spec":{"containers":[{"name":"main",` + field + `}]}}`)
}

func affinity(field string) string {
	return wrap(`{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{` + field + `"topologyKey":"k"}]}}}}`)
}

func TestEqualNamesTheUnreadable(t *testing.T) {
	good := stored("good", wrap(`{"spec":{}}`))
	for _, data := range []string{"", "{", "null", `{"spec":{}}`, "\x00\xff"} {
		bad := stored("bad", data)
		for _, pair := range [][2]*appsv1.ControllerRevision{{good, bad}, {bad, good}, {bad, bad.DeepCopy()}} {
			equal, err := revision.Equal(pair[0], pair[1])
			if equal && data == "" {
				t.Errorf("%q: equal", data)
			}
			if pair[0] == bad && pair[1] != good && data != "" {
				continue // Equal bytes are equal, whatever they say.
			}
			if err == nil || !strings.Contains(err.Error(), "ControllerRevision default/bad") {
				t.Errorf("%q: the error does not name the revision: %v", data, err)
			}
		}
	}
}

// endlessQuantity tells whether data may hold a quantity like 1e-2147483648,
// which k8s.io/apimachinery writes out in full before it rounds or compares it.
func endlessQuantity(data []byte) bool {
	return regexp.MustCompile(`[eE][+-]?[0-9]{4}`).Match(data)
}

func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"demo.json", "demo-defaults.json", "kubernetes-1.22-zero.json"} {
		f.Add(golden(f, name))
	}
	f.Add([]byte(container(`"resources":{"limits":{"cpu":"1500m","memory":0.5}}`)))
	f.Add([]byte(affinity(`"labelSelector":{},`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if endlessQuantity(data) {
			return
		}
		first, err := revision.Template(data)
		if err != nil {
			return
		}
		encoded, err := revision.Data(first)
		if err != nil {
			return // A time of another century, for example, cannot be encoded.
		}
		equal, err := revision.Equal(stored("a", string(data)), stored("b", string(encoded)))
		if err != nil {
			t.Fatal(err)
		}
		if !equal {
			t.Fatalf("encoded again it means another template:\n%s\n%s", data, encoded)
		}
		again, err := revision.Data(template(t, encoded))
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(encoded) {
			t.Fatalf("the encoding does not stand:\n%s\n%s", encoded, again)
		}
	})
}

func FuzzEqual(f *testing.F) {
	f.Add([]byte(container(`"args":["a"]`)), []byte(container(`"args":["b"]`)))
	f.Add(golden(f, "demo.json"), golden(f, "demo-defaults.json"))
	f.Add([]byte("{"), []byte(wrap(`{}`)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if endlessQuantity(a) || endlessQuantity(b) {
			return
		}
		ab, errAB := revision.Equal(stored("a", string(a)), stored("b", string(b)))
		ba, errBA := revision.Equal(stored("b", string(b)), stored("a", string(a)))
		if ab != ba || (errAB == nil) != (errBA == nil) {
			t.Fatalf("a, b: %t, %v; b, a: %t, %v", ab, errAB, ba, errBA)
		}
	})
}

// BenchmarkEqual compares the same bytes, and those that mean the same.
func BenchmarkEqual(b *testing.B) {
	for name, without := range map[string]string{"bytes": "", "meaning": `"$patch":"replace",`} {
		b.Run(name, func(b *testing.B) {
			r, s := fromTemplate(b, demo(b)), fromTemplate(b, demo(b))
			s.Data.Raw = []byte(strings.Replace(string(s.Data.Raw), without, "", 1))
			b.ReportAllocs()
			for b.Loop() {
				if equal, err := revision.Equal(r, s); !equal || err != nil {
					b.Fatal(equal, err)
				}
			}
		})
	}
}

func fromTemplate(t testing.TB, template *corev1.PodTemplateSpec) *appsv1.ControllerRevision {
	t.Helper()
	data, err := revision.Data(template)
	if err != nil {
		t.Fatal(err)
	}
	return stored("r", string(data))
}
