// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// noon is when all plans are made, unless a case says otherwise.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(noon.Add(after))) }

// newJob returns the job pull of nginx:1, with a spec in YAML beside the image.
func newJob(t testing.TB, spec string) *v1alpha1.ImagePullJob {
	t.Helper()
	job := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pull", UID: "job-uid", ResourceVersion: "7"},
		Spec:       v1alpha1.ImagePullJobSpec{Image: "nginx:1"},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &job.Spec); err != nil {
		t.Fatal(err)
	}
	return job
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", noon)

// nodeImage returns the NodeImage of a node, changed by words, whose values are behind colons. One that is full has as many images as may
// be. What is no word is a phase that is reported of the task of the job.
func nodeImage(name string, said ...string) *v1alpha1.NodeImage {
	n := &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), ResourceVersion: "3"}}
	for _, word := range said {
		switch word = strings.Replace(word, ":", "=", 1); {
		case word == "":
		case word == "full":
			image := nodeImage(name, "tag=1").Spec.Images["nginx"]
			n.Spec.Images = map[string]v1alpha1.ImageSpec{}
			for i := range v1alpha1.MaxNodeImageImages {
				n.Spec.Images[fmt.Sprint("image", i)] = image
			}
		case patches.Has[v1alpha1.NodeImage](words, word):
			n = patches.Changed(words, n, word)
		default:
			n = patches.Changed(words, n, "task", "phase="+word)
		}
	}
	return n
}

func snapshot(job *v1alpha1.ImagePullJob, nodes ...*v1alpha1.NodeImage) *Snapshot {
	s := &Snapshot{Job: job, NodeImages: map[string]*v1alpha1.NodeImage{}, Now: noon}
	for _, n := range nodes {
		s.NodeImages[n.Name] = n
	}
	return s
}

// fresh returns n nodes without tasks: n0, n1 and so on.
func fresh(n int) (nodes []*v1alpha1.NodeImage) {
	for i := range n {
		nodes = append(nodes, nodeImage(fmt.Sprint("n", i)))
	}
	return nodes
}

func percent(s string) *intstr.IntOrString { return ptr.To(intstr.FromString(s)) }
