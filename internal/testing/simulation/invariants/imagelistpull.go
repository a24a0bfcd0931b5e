// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func listOf(s *State) *v1alpha1.ImageListPullJob {
	if s == nil {
		return nil
	}
	job, _ := s.Workload.(*v1alpha1.ImageListPullJob)
	return job
}

// listedJobs are the ImagePullJobs of a list at a moment that are not being deleted, by image.
func listedJobs(s *State, of *v1alpha1.ImageListPullJob) map[string][]*v1alpha1.ImagePullJob {
	jobs := map[string][]*v1alpha1.ImagePullJob{}
	for _, object := range s.Further["imagepulljobs"] {
		if job := object.(*v1alpha1.ImagePullJob); metav1.IsControlledBy(job, of) && job.DeletionTimestamp == nil {
			jobs[job.Spec.Image] = append(jobs[job.Spec.Image], job)
		}
	}
	return jobs
}

// asListed tells whether an ImagePullJob has what its list says: each field is compared for itself. (ILP-3)
func asListed(job *v1alpha1.ImagePullJob, of *v1alpha1.ImageListPullJob) bool {
	a, b := &job.Spec, &of.Spec
	policy := func(p v1alpha1.ImagePullPolicy) bool { return p == v1alpha1.ImagePullAlways }
	nodes := func(p *intstr.IntOrString) string { // none is 1
		if p == nil {
			return "1"
		}
		return p.String()
	}
	return slices.Contains(b.Images, a.Image) && slices.Equal(a.PullSecrets, b.PullSecrets) && equality.Semantic.DeepEqual(a.Selector, b.Selector) &&
		equality.Semantic.DeepEqual(a.PodSelector, b.PodSelector) && nodes(a.Parallelism) == nodes(b.Parallelism) &&
		equality.Semantic.DeepEqual(a.PullPolicy, b.PullPolicy) && a.CompletionPolicy.Type == b.CompletionPolicy.Type &&
		equality.Semantic.DeepEqual(a.CompletionPolicy.ActiveDeadlineSeconds, b.CompletionPolicy.ActiveDeadlineSeconds) &&
		equality.Semantic.DeepEqual(a.SandboxConfig, b.SandboxConfig) && policy(a.ImagePullPolicy) == policy(b.ImagePullPolicy)
}

// ImageListPullJob judges a write of the controller of an ImageListPullJob.
func ImageListPullJob(w *Write) []Violation {
	var v violations
	of := listOf(w.Known)
	if of == nil {
		return nil
	}
	switch w.Resource {
	case "imagepulljobs":
		judgeListedJob(&v, w, of)
	case "imagelistpulljobs":
		judgeList(&v, w, of)
	}
	return v
}

func isOver(of *v1alpha1.ImageListPullJob) bool {
	return of == nil || of.Status.CompletionTime != nil || of.DeletionTimestamp != nil
}

// judgeListedJob: an image gets one ImagePullJob, as its list has it, and none is deleted that the list wants.
func judgeListedJob(v *violations, w *Write, of *v1alpha1.ImageListPullJob) {
	known := listedJobs(w.Known, of)
	before, after := objects[*v1alpha1.ImagePullJob](w)
	switch {
	case isOver(of) && (w.Observed == nil || isOver(listOf(w.Observed))): // it does not know of its own write whose answer was lost
		v.add(Needless, "%s of an ImagePullJob, and the job is over", w.Verb)
	case before == nil && after != nil:
		right := slices.ContainsFunc(known[after.Spec.Image], func(job *v1alpha1.ImagePullJob) bool { return asListed(job, of) && job.Generation == 1 })
		v.never(right, Needless, "creates an ImagePullJob for %s that is there already", after.Spec.Image)
		goes := after.Spec.CompletionPolicy.TTLSecondsAfterFinished != nil
		v.never(!asListed(after, of) || goes || !metav1.IsControlledBy(after, of), Needless,
			"creates an ImagePullJob for %s that is not as the job has it", after.Spec.Image)
	case before != nil && !metav1.IsControlledBy(before, of):
		v.add(Ownership, "writes to ImagePullJob %s, which the job does not control", before.Name)
	case w.Verb == "delete" && before != nil:
		others := slices.DeleteFunc(slices.Clone(known[before.Spec.Image]), func(job *v1alpha1.ImagePullJob) bool { return job.UID == before.UID || !asListed(job, of) })
		if asListed(before, of) && len(others) == 0 && before.Generation == 1 { // users may have given it the image of another
			v.add(Needless, "deletes ImagePullJob %s, which is as the job has it", before.Name)
		}
	}
}

// judgeList: the job goes when it has been over for as long as it says, and its status counts what there is. (ILP-4, ILP-5)
func judgeList(v *violations, w *Write, of *v1alpha1.ImageListPullJob) {
	after, _ := w.After.(*v1alpha1.ImageListPullJob)
	if after == nil || w.Verb == "delete" {
		v.never(!expired(of.Status.CompletionTime, of.Spec.CompletionPolicy.TTLSecondsAfterFinished, w.Truth.Now), Needless,
			"deletes the job, whose TTL is not over")
		return
	}
	seen := listOf(w.Observed)
	if seen == nil || seen.Status.CompletionTime != nil {
		return
	}
	judgeListCounts(v, after, seen, listedJobs(w.Observed, seen))
}

func judgeListCounts(v *violations, after, seen *v1alpha1.ImageListPullJob, jobs map[string][]*v1alpha1.ImagePullJob) {
	var least, most pulledImages
	for _, image := range seen.Spec.Images {
		all, some := pulledImages{1, 1}, pulledImages{}
		for _, job := range jobs[image] { // of several it does not matter which one counts; one that users have edited need not
			if asListed(job, seen) {
				if job.Generation > 1 {
					all = pulledImages{}
				}
				is := countOf(job)
				all, some = pulledImages{min(all.completed, is.completed), min(all.succeeded, is.succeeded)}, pulledImages{max(some.completed, is.completed), max(some.succeeded, is.succeeded)}
			}
		}
		least, most = least.plus(pulledImages{min(all.completed, some.completed), min(all.succeeded, some.succeeded)}), most.plus(some)
	}
	status := &after.Status
	if n := int32(len(seen.Spec.Images)); status.Desired != n || !within(least.completed, status.Completed, most.completed) || !within(least.succeeded, status.Succeeded, most.succeeded) {
		v.add(Status, "desired %d, completed %d, succeeded %d, and there are %d, %v to %v", status.Desired, status.Completed, status.Succeeded, n, least, most)
	}
	if ends := status.CompletionTime != nil; ends != (seen.Spec.CompletionPolicy.Type == v1alpha1.Always && status.Completed == status.Desired) {
		v.add(Status, "the job ends: %t, and %d of %d images are complete", ends, status.Completed, status.Desired)
	}
}

// pulledImages are the images that are complete, and those that every node has.
type pulledImages struct{ completed, succeeded int32 }

func (c pulledImages) plus(other pulledImages) pulledImages {
	return pulledImages{c.completed + other.completed, c.succeeded + other.succeeded}
}

func within(least, n, most int32) bool { return least <= n && n <= most }

// countOf is what an ImagePullJob counts for, by what it says of its present spec. (ILP-4)
func countOf(job *v1alpha1.ImagePullJob) (c pulledImages) {
	s := &job.Status
	if s.StartTime == nil || s.ObservedGeneration != 0 && s.ObservedGeneration != job.Generation {
		return c
	}
	count(&c.completed, s.Desired == s.Succeeded+s.Failed)
	count(&c.succeeded, s.Desired == s.Succeeded)
	return c
}

// ImageListPullJobSettled judges what there is when nothing happens any more.
func ImageListPullJobSettled(s *State, pushed bool) []Violation {
	var v violations
	of := listOf(s)
	if of == nil || of.DeletionTimestamp != nil || of.Status.CompletionTime != nil {
		return nil
	}
	jobs := listedJobs(s, of)
	for image, all := range jobs {
		v.never((len(all) != 1 || !asListed(all[0], of)) && !s.refuses("delete", "imagepulljobs"), Settled,
			"image %s has %d ImagePullJobs, or not as the job has it", image, len(all))
	}
	for _, image := range of.Spec.Images {
		v.never(len(jobs[image]) == 0 && !s.refuses("create", "imagepulljobs") && !s.refuses("delete", "imagepulljobs"), Settled,
			"image %s has no ImagePullJob", image)
	}
	if len(v) == 0 && !s.refuses("create", "imagepulljobs") {
		judgeListCounts(&v, of, of, jobs)
		v.never(pushed && of.Spec.CompletionPolicy.Type == v1alpha1.Always, Settled,
			"the job has no end: %d of %d images are complete", of.Status.Completed, of.Status.Desired)
	}
	return v
}
