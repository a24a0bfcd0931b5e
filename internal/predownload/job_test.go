// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

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
