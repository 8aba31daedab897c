defmodule PtcRunner.Agent.Approval do
  @moduledoc false
  # Asks the application about the plan of each program that writes, before its first call.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json
  alias PtcRunner.Json.{Given, Plan, Planning, Within}
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  @typedoc "What the program is given for its run, or why it does not run."
  @type t ::
          :run
          | {:within | :again, [Within.t()]}
          | {:hold, map()}
          | {:error, {:refused, String.t()}}

  @typedoc "What was decided about a program: about the plan with this digest, by whom or what, when, with which note; `error`: why it was refused."
  @type decided :: %{
          decision: :run | :within | :approved | :refused | :waits,
          plan: Plan.digest() | map() | nil,
          by: String.t() | atom(),
          at: String.t(),
          note: String.t() | nil,
          error: String.t() | nil
        }

  @doc "What the function of `:approve` says about a program with these tools, and what the audit has of it; `plan` makes its plan."
  @spec asked([Tool.t()], keyword(), (() -> {:ok, Plan.t()} | {:error, term()})) ::
          {t(), decided() | nil}
  def asked(tools, opts, plan) do
    fun = opts[:approve]

    # A program that goes on was approved, and a replay calls no tool.
    cond do
      opts[:replays] != nil or tools == [] -> {:run, nil}
      opts[:resumes] != nil -> resumed(opts[:resumes], opts[:within], plan, fun)
      fun == nil -> {:run, nil}
      true -> asked_about(plan.(), fun)
    end
  end

  # A program that waited was decided about by who goes on with it.
  defp resumed({%{plan: %{} = plan}, decision}, _given, _plan, _fun) do
    {decision, more} =
      case decision do
        {:decided, decision, more} -> {decision, more}
        decision -> {decision, []}
      end

    {:run, by_person(decision, plan["digest"], more)}
  end

  defp resumed(_resumes, _given, _plan, nil), do: {:run, nil}
  defp resumed({paused, _decisions}, given, plan, fun), do: {again(paused, given, plan, fun), nil}

  # A decision of another form is an error of who goes on.
  defp by_person(:approve, digest, more), do: decided(:approved, digest, :resume, more)
  defp by_person({:within, _plan}, digest, more), do: decided(:within, digest, :resume, more)

  defp by_person({:deny, reason}, digest, more),
    do: %{decided(:refused, digest, :resume, more) | error: Within.denied(reason)}

  defp by_person(_other, _digest, _more), do: nil

  # One that does not write is not asked about.
  defp asked_about(planned, fun) do
    answer = said(planned, fun)

    case {planned, answer} do
      {{:ok, plan}, {:error, {:refused, text}}} ->
        {answer, %{decided(:refused, plan.digest, :approve, []) | error: text}}

      {{:ok, plan}, {:within, _plans}} ->
        {answer, decided(:within, plan.digest, :approve, [])}

      {{:ok, plan}, {:hold, _map}} ->
        {answer, decided(:waits, plan.digest, :approve, [])}

      {{:ok, plan}, :run} ->
        {answer, if(writes?(plan), do: decided(:run, plan.digest, :approve, []))}

      {{:error, _wrong}, :run} ->
        {answer, nil}
    end
  end

  defp decided(decision, digest, by, more) do
    now = DateTime.to_iso8601(DateTime.utc_now())

    %{
      decision: decision,
      plan: digest,
      by: more[:by] || by,
      at: text(more[:at]) || now,
      note: more[:note],
      error: nil
    }
  end

  defp text(%DateTime{} = at), do: DateTime.to_iso8601(at)
  defp text(at), do: at

  # A paused run has its plans without their conditions, which are functions: the function is asked for these again. They hold for the plan that
  # was approved, and for no other one.
  defp again(%{within: [_ | _] = maps, plan: nil}, given, plan, fun) do
    if Enum.any?(maps, &match?(%{"where" => [_ | _]}, &1)),
      do: with_conditions(said(plan.(), fun), maps, given),
      else: :run
  end

  defp again(_paused, _given, _plan, _fun), do: :run

  defp with_conditions({:within, plans}, maps, given) do
    given = Within.plans!(given, "PtcRunner.Agent.resume/3")
    known = for %{plan: plan, counts: nil} <- given ++ plans, do: {Plan.to_map(plan), plan}
    kept = for map <- maps, do: Enum.find_value(known, map, &same(&1, map))
    {:again, Within.plans!(kept, "PtcRunner.Agent.resume/3")}
  end

  defp with_conditions({:error, _refused} = error, _maps, _given), do: error
  defp with_conditions(_other, _maps, _given), do: :run

  defp same({map, plan}, map), do: plan
  defp same(_other, _map), do: nil

  @doc """
  What was decided about the program of a run, with what was decided before it waited, the oldest first. That it waits is known by its paused run.
  """
  @spec entries(keyword(), decided() | nil) :: [map()]
  def entries(opts, decided) do
    before = Keyword.get(opts, :approvals_before, [])

    if decided == nil or decided.decision == :waits,
      do: before,
      else: before ++ [Map.put(decided, :turn, 1)]
  end

  @doc """
  What an application is told of a run, with what was decided about its program where something was.

      iex> PtcRunner.Agent.Approval.told(%{made: "", approval: nil, warnings: []}, [])
      %{warnings: []}

  """
  @spec told(map(), keyword()) :: map()
  def told(info, opts) do
    told = Map.drop(info, [:made, :approval])

    case entries(opts, Map.get(info, :approval)) do
      [] -> told
      entries -> Map.put(told, :approvals, entries)
    end
  end

  @doc "The plan of a program of PTC-JSON; `given` are the options of its run."
  @spec plan(Json.program(), [Tool.t()], keyword()) :: {:ok, Plan.t()} | {:error, term()}
  def plan(program, tools, given) do
    given = Given.read(given, "PtcRunner.Json.run/2", :own)
    forms = Map.new(tools, &{&1.name, &1})

    Planning.of(program, given.limits, forms, {given.context, given.memory}, nil)
  end

  # Its run says what is wrong with it.
  defp said({:error, _wrong}, _fun), do: :run

  defp said({:ok, plan}, fun) do
    if writes?(plan), do: answered(plan, fun), else: :run
  end

  defp writes?(plan), do: Enum.any?(plan.tools, &(&1.effect == :write))

  defp answered(plan, fun) do
    case fun.(plan) do
      :run -> :run
      {:within, plan} -> {:within, Within.plans!(plan, "a function of :approve")}
      {:refuse, text} -> refused(text)
      :pause -> {:hold, Plan.to_map(plan)}
      other -> refused("the function of :approve returned #{Shown.text(other, 200)}")
    end
  catch
    kind, reason ->
      refused("the function of :approve #{Guarded.failure(kind, reason, __STACKTRACE__)}")
  end

  defp refused(text), do: {:error, {:refused, Within.denied(text)}}

  @doc "The options of a run that was approved."
  @spec given(t(), keyword()) :: keyword()
  def given(:run, given), do: given

  def given({:within, within}, given) do
    before = Within.plans!(given[:within], "PtcRunner.Agent.run/3")
    Keyword.put(given, :within, before ++ within)
  end

  # Plans of a loop are counted over its turns; all other plans are those of the run.
  def given({:again, within}, given),
    do: Keyword.update(given, :within, within, &(shared(&1) ++ within))

  def given({:hold, plan}, given),
    do: Keyword.update(given, :control, %{hold: plan}, &Map.put(&1, :hold, plan))

  @doc "The plans of an option that several runs share."
  @spec shared(term()) :: [Within.t()]
  def shared(within),
    do:
      for(
        %{counts: counts} = plan <- Within.plans!(within, "PtcRunner.Agent.resume/3"),
        counts != nil,
        do: plan
      )
end
