// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// planJobs compares the ImagePullJobs that there are with those that there should be: one for each image. (ILP-3)
func (p *planner) planJobs() {
	jobs := slices.Clone(p.Jobs)
	slices.SortFunc(jobs, func(a, b *v1alpha1.ImagePullJob) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	kept, wanted := map[*v1alpha1.ImagePullJob]bool{}, map[string]bool{}
	for _, name := range distinct(p.Job.Spec.Images) {
		wanted[jobFor(p.Job, name).Name] = true
	}
	for _, name := range distinct(p.Job.Spec.Images) {
		want := jobFor(p.Job, name)
		of := image{name: name}
		if i := slices.IndexFunc(jobs, func(job *v1alpha1.ImagePullJob) bool {
			if job.DeletionTimestamp != nil || !alike(job, want) {
				return false
			}
			another := job.Name != want.Name && (wanted[job.Name] || p.edited(job)) // a user may have given one the image of another
			return !another
		}); i >= 0 {
			of.job = jobs[i]
			kept[of.job] = true
		}
		switch {
		case of.job == nil && slices.ContainsFunc(jobs, func(job *v1alpha1.ImagePullJob) bool { return job.Name == want.Name }):
			of.waits = fmt.Sprintf("ImagePullJob %s is being deleted: it is created again when it is gone", want.Name)
		case of.job == nil:
			of.waits = p.Refused[name]
			p.plan.Create = append(p.plan.Create, want)
		case of.job.Spec.CompletionPolicy.TTLSecondsAfterFinished != nil:
			p.plan.Keep = append(p.plan.Keep, of.job)
		}
		p.images = append(p.images, of)
	}
	for _, job := range jobs {
		if !kept[job] && job.DeletionTimestamp == nil {
			p.plan.Delete = append(p.plan.Delete, job)
		}
	}
}

// edited tells whether the spec of an ImagePullJob is not the one that it was made with. That is known of those that podwright has named. (ILP-3)
func (p *planner) edited(job *v1alpha1.ImagePullJob) bool {
	sum, ours := strings.CutPrefix(job.Name, prefixOf(p.Job))
	if _, err := hex.DecodeString(sum); !ours || err != nil || len(sum) != 2*sumBytes {
		return false
	}
	made := job.Spec.DeepCopy()
	made.CompletionPolicy.TTLSecondsAfterFinished = nil
	return nameFor(p.Job, made) != job.Name
}

// distinct returns the images without those that have come already: a job that no webhook has seen may name one twice.
func distinct(all []string) (out []string) {
	for _, name := range all {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// jobFor is the ImagePullJob of an image. It stays until the job goes. With a time to live of its own it would be created
// again while other images are still being pulled. (ILP-3, ILP-5)
func jobFor(of *v1alpha1.ImageListPullJob, name string) *v1alpha1.ImagePullJob {
	job := &v1alpha1.ImagePullJob{Spec: images.JobOf(&of.Spec, name)}
	job.Spec.CompletionPolicy.TTLSecondsAfterFinished = nil
	images.DefaultJob(&job.Spec)
	job.Namespace, job.Name = of.Namespace, nameFor(of, &job.Spec)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(of, v1alpha1.SchemeGroupVersion.WithKind(kind))}
	return job
}

// longestName is how much of the name of a job stands in those of its ImagePullJobs, which may have 253 characters.
const longestName = 240

// sumBytes is how much of a checksum stands in the name of an ImagePullJob.
const sumBytes = 5

// nameFor is the name of the ImagePullJob of a spec. It follows from the spec, so that a creation without an answer makes no
// second one. It follows from the UID of the job, since those of a former job of the name may still be there.
func nameFor(of *v1alpha1.ImageListPullJob, spec *v1alpha1.ImagePullJobSpec) string {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("a spec of strings and numbers cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(append(data, of.UID...))
	return prefixOf(of) + hex.EncodeToString(sum[:sumBytes])
}

// prefixOf is how the names of the ImagePullJobs of a job begin.
func prefixOf(of *v1alpha1.ImageListPullJob) string {
	return strings.TrimRight(of.Name[:min(len(of.Name), longestName)], "-.") + "-"
}

// alike tells whether an ImagePullJob is what a job wants, whatever manager has made it. (ILP-3)
func alike(job, want *v1alpha1.ImagePullJob) bool {
	return job.Spec.Image == want.Spec.Image && equality.Semantic.DeepEqual(normal(&job.Spec), normal(&want.Spec))
}

// normal is a spec with all defaults and without its time to live, in which alone equal ones may differ.
func normal(spec *v1alpha1.ImagePullJobSpec) *v1alpha1.ImagePullJobSpec {
	spec = spec.DeepCopy()
	images.DefaultJob(spec)
	spec.CompletionPolicy.TTLSecondsAfterFinished = nil
	spec.ImagePullPolicy = cmp.Or(spec.ImagePullPolicy, v1alpha1.ImagePullIfNotPresent)
	if spec.Parallelism == nil {
		spec.Parallelism = ptr.To(intstr.FromInt32(v1alpha1.DefaultImagePullParallelism))
	}
	return spec
}
