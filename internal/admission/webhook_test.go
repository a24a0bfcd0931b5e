// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
)

type set struct {
	Size   int  `json:"size,omitempty"`
	Locked bool `json:"locked,omitempty"`
}

// sets has defaults of 1, sizes of up to 3 that do not shrink, and no deletion of
// what is locked. Version v0 calls the size "count".
var sets = admission.Webhook[set]{
	GroupKind: schema.GroupKind{Group: "shop.io", Kind: "Set"}, MutatePath: "/mutate", ValidatePath: "/validate",
	Default: func(_ context.Context, c admission.Change[set]) error {
		switch {
		case c.Object.Size == 13:
			return errors.New("no luck")
		case c.Object.Size == 0 && c.Old != nil:
			c.Object.Size = c.Old.Size
		case c.Object.Size == 0:
			c.Object.Size = 1
		}
		return nil
	},
	Check: func(_ context.Context, c admission.Change[set]) (field.ErrorList, error) {
		if c.Object.Size == 13 {
			return nil, admission.Forbidden(c.Request, "no luck")
		}
		size := field.NewPath("size")
		return c.Errors(func(object *set) field.ErrorList {
			if object.Size > 3 {
				return field.ErrorList{field.Invalid(size, object.Size, "must be 3 or less")}
			}
			return nil
		}, func(object, old *set) field.ErrorList {
			if object.Size < old.Size {
				return field.ErrorList{field.Invalid(size, object.Size, fmt.Sprintf("must be %d or more", old.Size))}
			}
			return nil
		}), nil
	},
	Confirm: func(_ context.Context, c admission.Change[set]) *admissionv1.AdmissionResponse {
		answer := admission.Allowed()
		answer.Warnings = []string{fmt.Sprint("confirmed ", c.Object.Size)}
		return answer
	},
	CheckDelete: func(object *set) error {
		if object.Locked {
			return errors.New("it is locked")
		}
		return nil
	},
	Convert: func(request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionRequest, error) {
		if strings.Contains(string(request.Object.Raw), "total") {
			return nil, errors.New("no such version")
		}
		converted := *request
		converted.Object.Raw = []byte(strings.Replace(string(request.Object.Raw), "count", "size", 1))
		return &converted, nil
	},
}

func TestKind(t *testing.T) {
	const create, update, remove, connect = admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect
	none := admission.Webhook[set]{GroupKind: sets.GroupKind}
	newOnly := sets
	newOnly.CreateOnly = true
	for _, test := range []struct {
		name              string
		kind              admission.Webhook[set]
		operation         admissionv1.Operation
		about             string // kind, or kind/subresource
		object, old       string
		mutated, verified string
	}{
		{"a new object", sets, create, "Set", `{"other":2}`, ``, `add /size 1`, `confirmed 0`},
		{"that is complete", sets, create, "Set", `{"size":2}`, ``, ``, `confirmed 2`},
		{"that is wrong", sets, create, "Set", `{"size":4}`, ``, ``, `422 Set.shop.io "web" is invalid: size: Invalid value: 4: must be 3 or less`},
		{"a change", sets, update, "Set", `{}`, `{"size":2}`, `add /size 2`, `422 Set.shop.io "web" is invalid: size: Invalid value: 0: must be 2 or more`},
		{"a change that is right", sets, update, "Set", `{"size":9}`, `{"size":2}`, ``, `confirmed 9`},
		{"errors", sets, create, "Set", `{"size":13}`, ``, `500 Internal error occurred: no luck`, `403 sets.shop.io "web" is forbidden: no luck`},
		{"another version", sets, create, "Set", `{"count":4}`, ``, `add /size 1`, `422 Set.shop.io "web" is invalid: size: Invalid value: 4: must be 3 or less`},
		{"an unknown version", sets, create, "Set", `{"total":4}`, ``, `add /size 1`, `500 Internal error occurred: no such version`},
		{"no JSON", sets, create, "Set", `{`, ``, `400 object: want a Set as JSON: unexpected end of JSON input`, `400 object: want a Set as JSON: unexpected end of JSON input`},
		{"no JSON before", sets, update, "Set", `{}`, `{`, `400 oldObject: want a Set as JSON: unexpected end of JSON input`, `400 oldObject: want a Set as JSON: unexpected end of JSON input`},
		{"a deletion", sets, remove, "Set", ``, `{}`, ``, ``},
		{"a deletion that is not allowed", sets, remove, "Set", ``, `{"locked":true}`, ``, `403 it is locked`},
		{"another operation", sets, connect, "Set", `{"size":4}`, ``, ``, ``},
		{"another kind", sets, create, "Pod", `{"size":4}`, ``, ``, ``},
		{"deletion of another kind", sets, remove, "Pod", ``, `{"locked":true}`, ``, ``},
		{"a subresource", sets, update, "Set/status", `{"size":1}`, `{"size":2}`, ``, ``},
		{"deletion of a subresource", sets, remove, "Set/status", ``, `{"locked":true}`, ``, ``},
		{"new objects only: a new one", newOnly, create, "Set", `{}`, ``, `add /size 1`, `confirmed 0`},
		{"new objects only: a change", newOnly, update, "Set", `{`, `{"size":2}`, ``, ``},
		{"nothing to do", none, create, "Set", `{`, ``, ``, ``},
		{"nothing to do: a deletion", none, remove, "Set", ``, `{`, ``, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			about, subresource, _ := strings.Cut(test.about, "/")
			request := &admissionv1.AdmissionRequest{
				Operation: test.operation, Name: "web", SubResource: subresource,
				Kind:     metav1.GroupVersionKind{Group: "shop.io", Version: "v1", Kind: about},
				Resource: metav1.GroupVersionResource{Group: "shop.io", Version: "v1", Resource: "sets"},
			}
			request.Object.Raw, request.OldObject.Raw = []byte(test.object), []byte(test.old)
			got := [2]string{summary(t, test.kind.Mutate(t.Context(), request)), summary(t, test.kind.Validate(t.Context(), request))}
			if diff := cmp.Diff([2]string{test.mutated, test.verified}, got); diff != "" {
				t.Errorf("answers of Mutate and Validate (-want +got):\n%s", diff)
			}
		})
	}
}

// summary is what an answer says, "" for one that allows the request.
func summary(t *testing.T, answer *admissionv1.AdmissionResponse) string {
	if !answer.Allowed {
		return fmt.Sprint(answer.Result.Code, " ", answer.Result.Message)
	}
	parts := answer.Warnings
	var steps []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(answer.Patch, &steps); answer.Patch != nil && err != nil {
		t.Errorf("patch %s: %v", answer.Patch, err)
	}
	for _, step := range steps {
		parts = append(parts, fmt.Sprint(step.Op, " ", step.Path, " ", step.Value))
	}
	return strings.Join(parts, ", ")
}

func TestKindHandlers(t *testing.T) {
	mutating := sets
	mutating.ValidatePath = ""
	for name, test := range map[string]struct {
		kind admission.Webhook[set]
		want []string
	}{
		"both": {sets, []string{"/mutate", "/validate"}},
		"one":  {mutating, []string{"/mutate"}},
		"none": {admission.Webhook[set]{}, nil},
	} {
		if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(test.kind.Handlers()))); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", name, diff)
		}
	}
	request := strings.NewReplacer("apps.kruise.io", "shop.io", "CloneSet", "Set").Replace(review)
	for path, want := range map[string]string{"/mutate": `"patch":`, "/validate": `confirmed 0`} {
		if got, _ := post(t, sets.Handlers()[path], request); !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s answers %s, want %s in it", path, got.Body, want)
		}
	}
}
