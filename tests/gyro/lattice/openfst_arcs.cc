// Writes OpenFst files with arcs that OpenFst's own tools do not know: openfst_arcs ARC_TYPE FST_TYPE FILE < numbers.
//
// The numbers: states and start; then for each state its final weight, the number of its arcs, and the arcs: input,
// output, weight, target. A weight of N costs is these; a sparse one its default, how many components, and these.

#include <fst/arc.h>
#include <fst/const-fst.h>
#include <fst/power-weight.h>
#include <fst/sparse-power-weight.h>
#include <fst/vector-fst.h>

#include <iostream>
#include <string>

using namespace fst;

template <class T>
T Number() {
  std::string word;
  std::cin >> word;
  return static_cast<T>(std::stod(word));
}

// What MT decoders call a sparse tuple: OpenFst's own under another name, with 0 as the default.
template <class T>
struct Tuple : SparsePowerWeight<TropicalWeightTpl<T>> {
  using W = TropicalWeightTpl<T>;
  using Base = SparsePowerWeight<W>;
  using ReverseWeight = Tuple;
  Tuple() { this->SetDefaultValue(W::One()); }
  explicit Tuple(const Base &base) : Base(base) {}
  static const Tuple &Zero() { static const Tuple zero(Base::Zero()); return zero; }
  static const Tuple &One() { static const Tuple one(Base::One()); return one; }
  static const Tuple &NoWeight() { static const Tuple none(Base::NoWeight()); return none; }
  static const std::string &Type() {
    static const std::string type = sizeof(T) == 4 ? "tropicalsparsetuple" : "tropicalsparsetuple64";
    return type;
  }
};

using Pair = LexicographicWeight<TropicalWeight, TropicalWeight>;
using Three = PowerWeight<TropicalWeight, 3>;

void Read(Pair *weight) {
  const float first = Number<float>();
  *weight = Pair(first, Number<float>());
}

void Read(Three *weight) {
  for (int i = 0; i < 3; ++i) weight->SetValue(i, Number<float>());
}

template <class W>
void Read(SparseTupleWeight<W, int> *weight) {
  weight->Init(W(Number<typename W::ValueType>()));
  for (int left = Number<int>(); left > 0; --left) {
    const int component = Number<int>();
    weight->PushBack(component, W(Number<typename W::ValueType>()), false);
  }
}

template <class Arc>
VectorFst<Arc> ReadFst() {
  VectorFst<Arc> fst;
  typename Arc::Weight weight;
  const int states = Number<int>(), start = Number<int>();
  for (int state = 0; state < states; ++state) fst.AddState();
  if (states) fst.SetStart(start);
  for (int state = 0; state < states; ++state) {
    Read(&weight);
    fst.SetFinal(state, weight);
    for (int left = Number<int>(); left > 0; --left) {
      const int input = Number<int>(), output = Number<int>();
      Read(&weight);
      fst.AddArc(state, Arc(input, output, weight, Number<int>()));
    }
  }
  return fst;
}

template <class Arc>
bool Write(const std::string &kind, const std::string &path) {
  const auto fst = ReadFst<Arc>();
  return kind == "const" ? ConstFst<Arc>(fst).Write(path) : fst.Write(path);
}

template <class Arc>
bool WriteVector(const std::string &path) {
  return ReadFst<Arc>().Write(path);
}

int main(int, char **argv) {
  const std::string type = argv[1], kind = argv[2], path = argv[3];
  bool written = false;
  if (type == "tropical_LT_tropical") written = Write<LexicographicArc<TropicalWeight, TropicalWeight>>(kind, path);
  if (type == "tropical_^3") written = Write<ArcTpl<Three>>(kind, path);
  if (type == "tropical_^n") written = WriteVector<ArcTpl<SparsePowerWeight<TropicalWeight>>>(path);
  if (type == "tropicalsparsetuple") written = WriteVector<ArcTpl<Tuple<float>>>(path);
  if (type == "tropicalsparsetuple64") written = WriteVector<ArcTpl<Tuple<double>>>(path);
  return written ? 0 : 1;
}
