// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Webhook is what the webhooks of a kind do with its objects; they do the rest.
// Objects are decoded as T, which has the fields of all versions that are served.
// A function that is nil is left out: what it would be asked about is allowed.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook[T any] struct {
	schema.GroupKind
	// MutatePath and ValidatePath are the paths at which webhook configurations look for Mutate
	// and Validate. Empty: there is no such webhook.
	MutatePath, ValidatePath string
	// CreateOnly leaves updates as they are.
	CreateOnly bool

	// Default sets the defaults of the object, in place. An error refuses it, as
	// Errored does.
	Default func(context.Context, Change[T]) error
	// Check says what is wrong with the object, field by field, which refuses it
	// with the code 422. An error refuses it too, as Errored does.
	Check func(context.Context, Change[T]) (field.ErrorList, error)
	// Confirm has the last word about an object that Check finds right.
	Confirm func(context.Context, Change[T]) *admissionv1.AdmissionResponse
	// CheckDelete says why the object must not be deleted, which refuses it with the
	// code 403; nil if it may.
	CheckDelete func(*T) error
	// Convert gives Check and Confirm the request with its objects in another
	// version. An error refuses it, as Errored does. Nil: as they come.
	Convert func(*admissionv1.AdmissionRequest) (*admissionv1.AdmissionRequest, error)
}

// Change is a CREATE or an UPDATE.
type Change[T any] struct {
	Request *admissionv1.AdmissionRequest
	// Object is what will be stored, and Old what is stored; nil for a CREATE.
	Object, Old *T
}

// Errors returns what is wrong with the change: what create says of a new object,
// or update of a changed one.
func (c Change[T]) Errors(create func(*T) field.ErrorList, update func(object, old *T) field.ErrorList) field.ErrorList {
	if c.Old == nil {
		return create(c.Object)
	}
	return update(c.Object, c.Old)
}

// Defaults is a Webhook.Default of a function that sets the defaults of an object. It may know what is stored, nil for a CREATE, and options.
func Defaults[T, O any](set func(object, old *T, options O), options O) func(context.Context, Change[T]) error {
	return func(_ context.Context, c Change[T]) error {
		set(c.Object, c.Old, options)
		return nil
	}
}

// Checks is a Webhook.Check of what is wrong with a new object, or with a changed one.
func Checks[T any](create func(*T) field.ErrorList, update func(object, old *T) field.ErrorList) func(context.Context, Change[T]) (field.ErrorList, error) {
	return func(_ context.Context, c Change[T]) (field.ErrorList, error) { return c.Errors(create, update), nil }
}

// Handlers returns the HTTP handlers by their paths.
func (w Webhook[T]) Handlers() map[string]http.Handler {
	handlers := map[string]http.Handler{}
	if w.MutatePath != "" {
		handlers[w.MutatePath] = Handler(w.Mutate)
	}
	if w.ValidatePath != "" {
		handlers[w.ValidatePath] = Handler(w.Validate)
	}
	return handlers
}

// Mutate answers CREATE and UPDATE with a JSON patch that does what Default did.
// Fields of the object that T does not know stay as they are.
func (w Webhook[T]) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !w.concerns(request) || w.Default == nil {
		return Allowed()
	}
	change, err := changeOf[T](request)
	if err == nil {
		err = w.Default(ctx, change)
	}
	if err != nil {
		return Errored(err)
	}
	return Patched(request.Object.Raw, change.Object)
}

// Validate answers CREATE, UPDATE and DELETE with what Check, Confirm and
// CheckDelete say.
func (w Webhook[T]) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if w.concerns(request) && w.Check != nil {
		return w.validateChange(ctx, request)
	}
	if request.Operation == admissionv1.Delete && w.CheckDelete != nil && IsAbout(request, w.GroupKind) {
		return Deleted(request, w.CheckDelete)
	}
	return Allowed()
}

func (w Webhook[T]) validateChange(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if w.Convert != nil {
		converted, err := w.Convert(request)
		if err != nil {
			return Errored(err)
		}
		request = converted
	}
	change, err := changeOf[T](request)
	if err != nil {
		return Errored(err)
	}
	errs, err := w.Check(ctx, change)
	if err != nil {
		return Errored(err)
	}
	if len(errs) > 0 || w.Confirm == nil {
		return Validated(request, errs)
	}
	return w.Confirm(ctx, change)
}

// concerns tells whether a request changes an object of the kind.
func (w Webhook[T]) concerns(request *admissionv1.AdmissionRequest) bool {
	return IsAbout(request, w.GroupKind) &&
		(request.Operation == admissionv1.Create || request.Operation == admissionv1.Update && !w.CreateOnly)
}

func changeOf[T any](request *admissionv1.AdmissionRequest) (Change[T], error) {
	object, old, err := Objects[T](request)
	return Change[T]{Request: request, Object: object, Old: old}, err
}
