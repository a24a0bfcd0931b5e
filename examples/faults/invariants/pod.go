package invariants

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/testbed"
)

// podChange is a change of a pod, and what it means.
type podChange struct {
	old, new, pod *corev1.Pod // pod is the latest

	created  bool
	deleted  bool // it was active, and is about to go or gone
	moved    bool // to other images
	takenOut bool // of service
}

func newPodChange(c Change) podChange {
	var p podChange
	if c.Old != nil {
		p.old = c.Old.(*corev1.Pod)
		p.pod = p.old
	}
	if c.New != nil {
		p.new = c.New.(*corev1.Pod)
		p.pod = p.new
	}
	p.created = p.old == nil && p.new.DeletionTimestamp == nil
	p.deleted = p.old != nil && p.old.DeletionTimestamp == nil && (p.new == nil || p.new.DeletionTimestamp != nil)
	p.moved = p.old != nil && p.new != nil && images(p.old.Spec) != images(p.new.Spec)
	p.takenOut = p.old != nil && testbed.InService(p.old) && (p.new == nil || !testbed.InService(p.new))
	return p
}

func (j *Judge) judgePod(v *verdict, c podChange) {
	owner := metav1.GetControllerOf(c.pod)
	if c.old != nil {
		owner = metav1.GetControllerOf(c.old)
	}
	if owner == nil || j.sets[owner.UID] == nil {
		return
	}
	s := j.sets[owner.UID]
	j.judgeIdentity(v, c, owner)
	judgeHooks(v, s, c)
	if c.created {
		j.judgeMounts(v, c.new)
		v.expect(s.images[images(c.new.Spec)] || s.allowed(func(t terms) bool { return t.at(c.new) }),
			Partition, "created with %s, which no spec asks for", images(c.new.Spec))
	}
	if s.ordinals {
		j.judgeStatefulPod(v, s, owner.UID, c)
	} else {
		j.judgeClonedPod(v, s, owner.UID, c)
	}
}

// judgeIdentity: a pod keeps its owner, its spec stays as it is but for images, and while it is on a node it goes only when
// its containers have ended.
func (j *Judge) judgeIdentity(v *verdict, c podChange, owner *metav1.OwnerReference) {
	if c.new == nil {
		v.expect(v.gap || c.old.DeletionTimestamp != nil || c.old.Spec.NodeName == "",
			Identity, "gone from node %s without having been terminating", c.old.Spec.NodeName)
		return
	}
	if c.old == nil {
		return
	}
	now := metav1.GetControllerOf(c.new)
	v.expect(now != nil && now.UID == owner.UID, Ownership, "given away by %s", owner.Name)
	v.expect(equality.Semantic.DeepEqual(lasting(c.old, c.new), lasting(c.new, c.new)),
		InPlace, "something else than images has changed in the spec: it was %+v and is %+v", c.old.Spec, c.new.Spec)
}

// lasting is what must stay of the spec of a pod, given what it has become: all but images, and the node once it has one.
func lasting(pod, become *corev1.Pod) corev1.PodSpec {
	spec := *pod.Spec.DeepCopy()
	for i := range spec.Containers {
		spec.Containers[i].Image = ""
	}
	if spec.NodeName == "" {
		spec.NodeName = become.Spec.NodeName
	}
	return spec
}

// judgeHooks: a pod is not deleted and not updated while a hook holds it.
func judgeHooks(v *verdict, s *set, c podChange) {
	if c.deleted {
		last := c.pod // with the labels it had then
		v.expect(s.allowed(func(t terms) bool { return !holds(t.lifecycle.PreDelete, last) }), Hooks, "deleted while its preDelete hook holds it")
	}
	if c.moved && !v.gap {
		v.expect(s.allowed(func(t terms) bool { return !holds(t.lifecycle.InPlaceUpdate, c.old) }), Hooks, "updated while its inPlaceUpdate hook holds it")
	}
}

// judgeMounts: a pod does not get a claim that is about to go or in use by another one.
func (j *Judge) judgeMounts(v *verdict, pod *corev1.Pod) {
	if v.gap {
		return
	}
	mounted := mounts(pod)
	for _, other := range j.pods {
		for name := range mounts(other) {
			v.expect(other.UID == pod.UID || !mounted[name], Claims, "gets claim %s, which %s still has", name, testbed.Describe(other, false))
		}
	}
	for _, claim := range j.claims {
		if !mounted[claim.Name] {
			continue
		}
		v.expect(claim.DeletionTimestamp == nil, Claims, "gets claim %s, which is about to go", claim.Name)
		for _, owner := range claim.OwnerReferences {
			v.expect(owner.Kind != "Pod" || owner.UID == pod.UID, Claims, "gets claim %s, which goes with the former pod %s", claim.Name, owner.UID)
		}
		delete(mounted, claim.Name)
	}
	for name := range mounted {
		v.expect(false, Claims, "gets claim %s, which there is not", name)
	}
}

// mounts are the names of the claims of a pod.
func mounts(pod *corev1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			names[volume.PersistentVolumeClaim.ClaimName] = true
		}
	}
	return names
}

// judgeStranger: nobody deletes or writes what does not belong to a workload, but for its status.
func (j *Judge) judgeStranger(v *verdict, c Change) {
	if c.New == nil {
		v.expect(false, Ownership, "it is gone")
		return
	}
	if c.Old == nil {
		return
	}
	v.expect(equality.Semantic.DeepEqual(metadata(c.Old), metadata(c.New)), Ownership, "its metadata were %+v and are %+v", metadata(c.Old), metadata(c.New))
	if pod, is := c.New.(*corev1.Pod); is {
		v.expect(equality.Semantic.DeepEqual(lasting(c.Old.(*corev1.Pod), pod), lasting(pod, pod)), Ownership, "its spec has changed")
		v.expect(images(c.Old.(*corev1.Pod).Spec) == images(pod.Spec), Ownership, "its images are %s", images(pod.Spec))
	}
}

// metadata are those that no controller has a reason to write for somebody else.
func metadata(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: object.GetName(), UID: object.GetUID(), Labels: object.GetLabels(),
		OwnerReferences: object.GetOwnerReferences(), DeletionTimestamp: object.GetDeletionTimestamp(),
	}
}

// podName is the name of the pod that a claim of a workload belongs to, "" if the claim has none.
func (s *set) podName(claim string) string {
	for _, t := range s.counting {
		for _, template := range t.claims {
			if last, found := strings.CutPrefix(claim, template+"-"+s.name+"-"); found && !strings.Contains(last, "-") {
				return s.name + "-" + last
			}
		}
	}
	return ""
}
