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

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
// what is locked. Version v0 calls the size "count". Sizes from 13 on are errors.
var sets = admission.Webhook[set]{
	GroupKind: schema.GroupKind{Group: "shop.io", Kind: "Set"}, MutatePath: "/mutate", ValidatePath: "/validate",
	Default: func(_ context.Context, c admission.Change[set]) error {
		switch {
		case c.Object.Size == 13:
			return errors.New("no luck")
		case c.Object.Size == 14:
			return fmt.Errorf("reading the pod: %w", apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "p", errors.New("changed")))
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
		if c.Object.Size == 14 {
			return nil, admission.Invalid(c.Request, field.ErrorList{field.Required(size, "")}, 400, metav1.StatusReasonBadRequest)
		}
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

// TestKind shows what Mutate and Validate answer to the requests in testdata/webhook.txt: an operation, a kind or kind/subresource, and the objects. Webhooks
// are for new objects only, with new-only; with none they have nothing to do. Behind the message of a refusal stand the fields that it names.
func TestKind(t *testing.T) {
	newOnly := sets
	newOnly.CreateOnly = true
	datadriven.RunTest(t, "testdata/webhook.txt", func(t *testing.T, d *datadriven.TestData) string {
		kind := &sets
		if d.HasArg("new-only") {
			kind = &newOnly
		} else if d.HasArg("none") {
			kind = &admission.Webhook[set]{GroupKind: sets.GroupKind}
		}
		about, subresource, _ := strings.Cut(d.CmdArgs[0].Key, "/")
		group := "shop.io"
		if d.HasArg("group") {
			d.ScanArgs(t, "group", &group)
		}
		request := &admissionv1.AdmissionRequest{
			Operation: admissionv1.Operation(strings.ToUpper(d.Cmd)), Name: "web", SubResource: subresource,
			Kind:     metav1.GroupVersionKind{Group: group, Version: "v1", Kind: about},
			Resource: metav1.GroupVersionResource{Group: "shop.io", Version: "v1", Resource: "sets"},
		}
		for line := range strings.SplitSeq(d.Input, "\n") {
			if object, is := strings.CutPrefix(line, "object "); is {
				request.Object.Raw = []byte(object)
			} else if old, is := strings.CutPrefix(line, "old "); is {
				request.OldObject.Raw = []byte(old)
			}
		}
		mutated := strings.TrimSpace("Mutate: " + summary(t, kind.Mutate(t.Context(), request)))
		return mutated + "\n" + strings.TrimSpace("Validate: "+summary(t, kind.Validate(t.Context(), request))) + "\n"
	})
}

// summary is what an answer says, "" for one that allows the request.
func summary(t *testing.T, answer *admissionv1.AdmissionResponse) string {
	if !answer.Allowed {
		result := answer.Result
		said := fmt.Sprint(result.Code, " ", result.Reason, ": ", result.Message)
		if result.Status != metav1.StatusFailure {
			said += fmt.Sprint(" with the status ", result.Status)
		}
		if result.Details != nil {
			for _, cause := range result.Details.Causes {
				said += " [" + cause.Field + "]"
			}
		}
		return said
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
		if got := post(sets.Handlers()[path], request); !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s answers %s, want %s in it", path, got.Body, want)
		}
	}
}
