package a_test

import "example.com/m/a"

func ExampleShown() { a.Shown() }
func init()         { a.Tested() }
