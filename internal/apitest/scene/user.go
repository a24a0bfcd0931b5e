package scene

import (
	"encoding/json"
	"fmt"
	"testing/synctest"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// path is where the workload of a name is found, or all of them.
func (c *Cluster) path(name string) string {
	path := fmt.Sprintf("/apis/%s/namespaces/%s/%s", c.workload.GroupVersion(), Web.Namespace, c.workload.Name)
	if name == "" {
		return path
	}
	return path + "/" + name
}

// Create creates a workload, changed by a merge patch where that is not empty.
func (c *Cluster) Create(workload any, patch string) {
	c.T.Helper()
	data, err := json.Marshal(workload)
	c.Must(err)
	if patch != "" {
		data = []byte(c.Merge(string(data), patch))
	}
	c.Must(c.Kube.CoreV1().RESTClient().Post().AbsPath(c.path("")).SetHeader("Content-Type", "application/json").
		Body(data).Do(c.T.Context()).Error())
	synctest.Wait()
}

// Merge merges a merge patch into an object, or into another one.
func (c *Cluster) Merge(object, patch string) string {
	c.T.Helper()
	merged, err := jsonpatch.MergePatch([]byte(object), []byte(patch))
	c.Must(err)
	return string(merged)
}

// Edit changes the workload as a user does, by a merge patch.
func (c *Cluster) Edit(patch string, subresources ...string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(c.path(Web.Name)).Suffix(subresources...).
		Body([]byte(patch)).Do(c.T.Context()).Error())
	synctest.Wait()
}

// SetImage changes the image of the container main, and drops all others.
func (c *Cluster) SetImage(image string) {
	c.T.Helper()
	c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"` + image + `"}]}}}}`)
}

// Delete deletes the workload. What it owned stays until the garbage is
// collected.
func (c *Cluster) Delete() {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().RESTClient().Delete().AbsPath(c.path(Web.Name)).Do(c.T.Context()).Error())
	synctest.Wait()
}

// Orphan deletes the workload, and nothing that it owned is owned any more, as
// "kubectl delete --cascade=orphan" does.
func (c *Cluster) Orphan() {
	c.T.Helper()
	c.Delete()
	orphaned := []byte(`{"metadata":{"ownerReferences":null}}`)
	for _, name := range c.PodNames() {
		_, err := c.Kube.CoreV1().Pods(Web.Namespace).Patch(c.T.Context(), name, types.MergePatchType, orphaned, metav1.PatchOptions{})
		c.Must(err)
	}
	revisions := c.Kube.AppsV1().ControllerRevisions(Web.Namespace)
	list, err := revisions.List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, r := range list.Items {
		_, err := revisions.Patch(c.T.Context(), r.Name, types.MergePatchType, orphaned, metav1.PatchOptions{})
		c.Must(err)
	}
	synctest.Wait()
}

// Raw returns the workload as it is stored.
func (c *Cluster) Raw() (object map[string]any) {
	c.T.Helper()
	data, err := c.Kube.CoreV1().RESTClient().Get().AbsPath(c.path(Web.Name)).DoRaw(c.T.Context())
	c.Must(err)
	c.Must(json.Unmarshal(data, &object))
	return object
}

// Conditions shows the conditions of the workload as "type: message".
func (c *Cluster) Conditions() []string {
	c.T.Helper()
	out := []string{}
	status, _ := c.Raw()["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, each := range conditions {
		condition := each.(map[string]any)
		out = append(out, fmt.Sprintf("%v: %v", condition["type"], condition["message"]))
	}
	return out
}

// Pods returns the pods by name, those that are being deleted too.
func (c *Cluster) Pods() []corev1.Pod {
	c.T.Helper()
	pods, err := c.Kube.CoreV1().Pods(Web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	return pods.Items
}

// PodNames returns the names of all pods, sorted.
func (c *Cluster) PodNames() []string {
	c.T.Helper()
	names := []string{}
	for _, pod := range c.Pods() {
		names = append(names, pod.Name)
	}
	return names
}

// DeletePod deletes a pod as a user does.
func (c *Cluster) DeletePod(name string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().Pods(Web.Namespace).Delete(c.T.Context(), name, metav1.DeleteOptions{}))
	synctest.Wait()
}

// PatchPod changes a pod as a user does, by a strategic-merge patch.
func (c *Cluster) PatchPod(name, patch string, subresources ...string) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods(Web.Namespace).Patch(c.T.Context(), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	c.Must(err)
	synctest.Wait()
}

// LabelPods gives all pods a label.
func (c *Cluster) LabelPods(key, value string) {
	c.T.Helper()
	for _, name := range c.PodNames() {
		c.PatchPod(name, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value))
	}
}

// ReplacePod removes a pod at once, and puts one of the user's in its place.
func (c *Cluster) ReplacePod(name string) {
	c.T.Helper()
	c.RemovePod(name)
	c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"by": "user"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "mine"}}}})
}

// RemovePod deletes a pod without grace.
func (c *Cluster) RemovePod(name string) {
	c.T.Helper()
	now := int64(0)
	c.Must(c.Kube.CoreV1().Pods(Web.Namespace).Delete(c.T.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	synctest.Wait()
}

// CreatePod creates a pod as a user does.
func (c *Cluster) CreatePod(pod *corev1.Pod) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods(Web.Namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}
