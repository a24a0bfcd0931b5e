// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestAdmitRefuses: the webhooks of the library refuse an object that has nothing, and name its fields.
func TestAdmitRefuses(t *testing.T) {
	cluster := fakecluster.New()
	mutating, validating := workloads.Webhooks()
	cluster.Admit(new(cloneset.Webhook).Handlers(), mutating, validating)
	sets, err := client.NewForConfig(cluster.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = sets.CloneSets("shop").Create(t.Context(), &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.selector") || !strings.Contains(err.Error(), "denied the request") {
		t.Errorf("error %v", err)
	}
}

// hook answers reviews, and notes them.
type hook struct {
	seen   []string
	answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	line := string(review.Request.Operation) + " " + review.Request.Resource.Resource
	if review.Request.SubResource != "" {
		line += "/" + review.Request.SubResource
	}
	for what, object := range map[string][]byte{" old": review.Request.OldObject.Raw, "": review.Request.Object.Raw} {
		var found metav1.PartialObjectMetadata
		if len(object) > 0 {
			if err := json.Unmarshal(object, &found); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if what != "" {
				line += what
			}
		}
	}
	h.seen = append(h.seen, line+" of "+review.Request.UserInfo.Username)
	response := h.answer(review.Request)
	if response == nil {
		http.Error(w, "broken", http.StatusTeapot)
		return
	}
	response.UID = review.Request.UID
	review.Request, review.Response = nil, response
	_ = json.NewEncoder(w).Encode(&review)
}

func allowed(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// pods is a webhook that is asked about all that is done to pods, after a merge patch in YAML.
func pods(t *testing.T, patch string) []admissionregistrationv1.ValidatingWebhook {
	var w admissionregistrationv1.ValidatingWebhook
	patches.Merge(t, &w, `{name: hook.example.com, clientConfig: {service: {path: /hook}},
		rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [pods, pods/eviction]}]}`)
	patches.Merge(t, &w, patch)
	return []admissionregistrationv1.ValidatingWebhook{w}
}

// TestAdmitSelects: a webhook is asked about what its rules and selectors select, and what its answer means is its policy.
func TestAdmitSelects(t *testing.T) {
	broken := func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return nil }
	refuses := func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{}
	}
	asked := []string{"CREATE pods of test", "CREATE pods/eviction of test", "DELETE pods old of test"}
	cases := map[string]struct {
		patch  string
		answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
		want   []string
		failed string
	}{
		"all":                         {`{}`, allowed, asked, ""},
		"another operation":           {`rules: [{operations: [UPDATE], apiGroups: [""], apiVersions: [v1], resources: [pods, pods/eviction]}]`, allowed, nil, ""},
		"no subresource":              {`rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: ["*"]}]`, allowed, []string{asked[0], asked[2]}, ""},
		"another group":               {`rules: [{operations: ["*"], apiGroups: [apps], apiVersions: [v1], resources: [pods, pods/eviction]}]`, allowed, nil, ""},
		"the cluster's":               {`rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [pods], scope: Cluster}]`, allowed, nil, ""},
		"another namespace":           {`namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}`, allowed, nil, ""},
		"a label of the namespace":    {`namespaceSelector: {matchLabels: {team: a}}`, allowed, asked, ""},
		"other labels":                {`objectSelector: {matchLabels: {app: other}}`, allowed, nil, ""},
		"a path without a handler":    {`clientConfig: {service: {path: /other}}`, allowed, nil, ""},
		"a broken one":                {`{}`, broken, asked[:1], "failed calling webhook"},
		"a broken one that may be so": {`failurePolicy: Ignore`, broken, asked, ""},
		"one that refuses":            {`failurePolicy: Ignore`, refuses, asked[:1], "denied the request"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, h, ctx := fakecluster.New(), &hook{answer: c.answer}, t.Context()
			kube := kubernetes.NewForConfigOrDie(cluster.Config("test"))
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}
			if _, err := kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			cluster.Admit(map[string]http.Handler{"/hook": h}, nil, pods(t, c.patch))
			web := kube.CoreV1().Pods("shop")
			_, err := web.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}}}, metav1.CreateOptions{})
			if err == nil {
				eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
				dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
				eviction.DeleteOptions = &dry
				if err = web.EvictV1(ctx, eviction); err == nil {
					err = web.Delete(ctx, "web", dry)
				}
			}
			if (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
				t.Errorf("error %v, want %q", err, c.failed)
			}
			if diff := cmp.Diff(c.want, h.seen); diff != "" {
				t.Errorf("asked about (-want +got):\n%s", diff)
			}
		})
	}
}
