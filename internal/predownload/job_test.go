// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// The golden job must never change: jobs of running clusters look like it.
func TestGoldenJob(t *testing.T) {
	in := input(t)
	in.workload = workload(map[string]string{
		inplacev1alpha1.PreDownloadParallelismAnnotation:    "4",
		inplacev1alpha1.PreDownloadTimeoutSecondsAnnotation: "1200",
	})
	got, err := json.MarshalIndent(decide(in).Create, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/jobs.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("IP-30: jobs (-want +got):\n%s", diff)
	}
}

func TestAnnotationNumbers(t *testing.T) {
	for _, test := range []struct {
		name, parallelism, timeout string
		want                       [2]int32
	}{
		{"IP-30: defaults", "", "", [2]int32{1, 300}},
		{"IP-30: given", "10", "60", [2]int32{10, 60}},
		{"IP-30: parallelism 0 pauses", "0", "60", [2]int32{0, 60}},
		{"IP-30: percentages are no integers", "10%", "10%", [2]int32{1, 300}},
		{"IP-30: no numbers", "many", "5m", [2]int32{1, 300}},
		{"IP-30: out of range", "99999999999", "99999999999", [2]int32{1, 300}},
		{"IP-30: less than makes sense", "-1", "0", [2]int32{1, 300}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t)
			in.workload = workload(map[string]string{
				inplacev1alpha1.PreDownloadParallelismAnnotation:    test.parallelism,
				inplacev1alpha1.PreDownloadTimeoutSecondsAnnotation: test.timeout,
			})
			spec := decide(in).Create[0].Spec
			got := [2]int32{spec.Parallelism.IntVal, *spec.PullPolicy.TimeoutSeconds}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parallelism and timeout (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobName(t *testing.T) {
	long := strings.Repeat("w", 222) + "."
	for _, test := range []struct{ name, revision, container, want string }{
		{"IP-30", "web-abc", "main", "web-abc-main"},
		{"IP-30: the longest that fits", long + "-abcdefghij", strings.Repeat("c", 18), long + "-abcdefghij-" + strings.Repeat("c", 18)},
		{"IP-30: too long", long + "-abcdefghij", strings.Repeat("c", 19), strings.Repeat("w", 222) + "-abcdefghij-" + strings.Repeat("c", 19)},
		{"IP-30: much too long", long + "-abcdefghij", strings.Repeat("c", 63), strings.Repeat("w", 178) + "-abcdefghij-" + strings.Repeat("c", 63)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, jobName(test.revision, test.container)); diff != "" {
				t.Errorf("name (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobDetails(t *testing.T) {
	t.Run("IP-30: without a hash label, the hash of the name", func(t *testing.T) {
		in := input(t)
		delete(in.to.Labels, revision.HashLabel)
		if got := decide(in).Create[0].Labels[revision.HashLabel]; got != "new" {
			t.Errorf("hash %q, want new", got)
		}
	})
	t.Run("IP-30: the selector's own expressions stay", func(t *testing.T) {
		in := input(t)
		own := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpExists}
		in.selector.MatchExpressions = []metav1.LabelSelectorRequirement{own}
		want := []metav1.LabelSelectorRequirement{own,
			{Key: "controller-revision-hash", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web-new", "new"}}}
		if diff := cmp.Diff(want, decide(in).Create[0].Spec.PodSelector.MatchExpressions); diff != "" {
			t.Errorf("expressions (-want +got):\n%s", diff)
		}
	})
	t.Run("IP-30: a name too long for a label is not selected by", func(t *testing.T) {
		in := input(t)
		in.to.Name = strings.Repeat("w", 60) + "-new"
		selector := decide(in).Create[0].Spec.PodSelector
		if diff := cmp.Diff([]string{"new"}, selector.MatchExpressions[0].Values); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
		if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
			t.Errorf("the API server would refuse the selector: %v", err)
		}
	})
	t.Run("IP-30: neither pull secrets nor labels", func(t *testing.T) {
		in := input(t)
		bare := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:2"}}}}
		in.From[0], in.to = rev(t, "old", bare), rev(t, "new", bare)
		in.PodPerNode = true
		in.From[0].Data.Raw = bytes.Replace(in.From[0].Data.Raw, []byte("nginx:2"), []byte("nginx:1"), 1)
		job := decide(in).Create[0]
		if diff := cmp.Diff(map[string]string{revision.HashLabel: "new"}, job.Labels); diff != "" || job.Spec.PullSecrets != nil {
			t.Errorf("pull secrets %v, labels (-want +got):\n%s", job.Spec.PullSecrets, diff)
		}
	})
	t.Run("IP-30: a container without an image is left out", func(t *testing.T) {
		in := input(t)
		in.to, in.PodPerNode = rev(t, "new", template("", "log:2")), true
		if diff := cmp.Diff([]string{"web-new-log=log:2"}, outcomeOf(decide(in)).Create); diff != "" {
			t.Errorf("jobs (-want +got):\n%s", diff)
		}
	})
}

// No annotation and no name makes a job that the API server refuses or that never pulls.
func FuzzJob(f *testing.F) {
	f.Add("web", "main", "4", "1200", "20%")
	f.Add("a.b", strings.Repeat("c", 63), "-1", "0", "x")
	f.Add(strings.Repeat("w", 253), strings.Repeat("c", 63), "1e3", "", "-20%")
	f.Fuzz(func(t *testing.T, name, container, parallelism, timeout, min string) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsDNS1123Label(container)) > 0 {
			return
		}
		in := input(t)
		in.to.Name = revision.Name(name, "new")
		if len(validation.IsDNS1123Subdomain(in.to.Name)) > 0 {
			return
		}
		in.to.Data.Raw = bytes.Replace(in.to.Data.Raw, []byte(`"main"`), []byte(`"`+container+`"`), 1)
		in.workload = workload(map[string]string{
			inplacev1alpha1.PreDownloadParallelismAnnotation:    parallelism,
			inplacev1alpha1.PreDownloadTimeoutSecondsAnnotation: timeout,
			minimum: min,
		})
		in.PodPerNode = true
		for _, job := range decide(in).Create {
			if wrong := validation.IsDNS1123Subdomain(job.Name); len(wrong) > 0 {
				t.Errorf("job name %q: %v", job.Name, wrong)
			}
			if job.Spec.Parallelism.IntVal < 0 || ptr.Deref(job.Spec.PullPolicy.TimeoutSeconds, 0) < 1 {
				t.Errorf("parallelism %v, timeout %d", job.Spec.Parallelism, *job.Spec.PullPolicy.TimeoutSeconds)
			}
			if _, err := metav1.LabelSelectorAsSelector(job.Spec.PodSelector); err != nil {
				t.Error(err)
			}
		}
	})
}
